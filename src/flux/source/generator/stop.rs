//! The reasons why an artifact is not generated.

use arcstr::ArcStr;

use crate::base::finding::Finding;
use crate::kustomize::FAILED_BUILD;
use crate::text::Span;

/// The reason why an artifact is not created.
#[derive(Debug, Clone)]
pub(in crate::flux::source) enum Stop {
    /// The controller fails to create the artifact.
    Failed(Vec<Finding>),
    /// The artifact is unknown, with the reason.
    Unknown(ArcStr),
}

impl Stop {
    pub(super) fn failed(at: &Span, message: impl Into<String>, help: &str) -> Self {
        Self::Failed(vec![Finding::error(FAILED_BUILD, at.clone(), message).help(help)])
    }
}
