//! The reasons why an artifact is not generated.

use std::sync::Arc;

use crate::base::finding::Finding;
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;

/// Why an artifact is not made.
#[derive(Debug, Clone)]
pub(in crate::flux::source) enum Stop {
    /// The controller does not make it either.
    Failed(Vec<Finding>),
    /// It is not done here, and why.
    Unknown(Arc<str>),
}

impl Stop {
    pub(super) fn failed(at: &Span, message: impl Into<String>, help: &str) -> Self {
        Self::Failed(vec![Finding::error(FAILED_BUILD, at.clone(), message).help(help)])
    }
}
