//! An object of a repository, as a kustomization builds it or as a file contains it.

use std::sync::Arc;

use super::completion::Completion;
use crate::kube::Object;

/// An object with its origin.
#[derive(Debug, Clone)]
pub struct Built {
    /// The object.
    pub object: Object,
    /// The directory of the kustomization that builds it, or of its file.
    pub folder: Arc<str>,
    /// The changes by Kustomizations of this repository.
    pub completion: Completion,
    /// Whether no unsupported transformer may have changed it.
    pub is_final: bool,
}
