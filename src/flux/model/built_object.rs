//! An object of a repository, as a kustomization builds it or as a file contains it.

use std::sync::Arc;

use super::completion::Completion;
use crate::kube::Object;

/// An object and how it came to be.
#[derive(Debug, Clone)]
pub struct Built {
    /// The object.
    pub object: Object,
    /// The folder that it is applied from: the kustomization's, or the file's.
    pub folder: Arc<str>,
    /// What Flux adds to it, as far as this repository says.
    pub completion: Completion,
    /// Whether a transformer that was not run may have set any field of it.
    pub settled: bool,
}
