//! An object of a repository, as a kustomization builds it or as a file contains it.

use arcstr::ArcStr;

use super::completion::Completion;
use crate::kube::Object;

/// An object with its origin.
#[derive(Debug, Clone)]
pub struct Built {
    /// The object.
    pub object: Object,
    /// The directory of the kustomization that builds the object, or the directory of the object's file.
    pub folder: ArcStr,
    /// The changes that Kustomizations of this repository make to the object.
    pub completion: Completion,
    /// Whether the fields are certain. They are not if the build omits a remote component, which may change any field.
    pub is_final: bool,
    /// Whether the object may lack the changes of a patch, component or transformer that failed.
    pub lacks_changes: bool,
}
