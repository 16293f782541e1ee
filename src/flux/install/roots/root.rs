//! The bootstrap of a cluster.

use super::evidence::RootEvidence;
use crate::base::finding::Finding;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, ObjectId, groups};
use crate::yaml::Name;

/// The bootstrap of a cluster.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
pub(crate) struct Root {
    /// The name of the cluster.
    pub(crate) name: Name,
    /// The objects of the bootstrap: a FluxInstance, or a source and a Kustomization. The object that creates the root
    /// is the last one.
    pub(crate) objects: Vec<Object>,
    /// The findings of the build that contains the objects.
    pub(crate) findings: Vec<Finding>,
    /// The directory of the tree that is the root of the synced source; `None` if the tree does not contain the source.
    pub(crate) prefix: Option<String>,
    /// The Deployment of kustomize-controller, if the file that installs Flux is missing.
    pub(crate) controller: Option<Object>,
    /// The synced directory of the tree, or the directory of the bootstrap if the tree does not contain the synced
    /// directory.
    pub(crate) folder: String,
    /// Whether the synced path exists.
    pub(crate) path_exists: bool,
    /// Whether the configuration declares the root. Another platform creates its objects, whose other fields are unknown.
    pub(crate) is_declared: bool,
    pub(crate) evidence: RootEvidence,
    /// Whether the root keeps its source although a patch of the cluster's directory replaces it.
    pub(crate) keeps_source: bool,
    /// Further sources of the tree, each with the directory of the tree that is its root: the sources of the bootstraps that a
    /// FluxInstance replaces, and sources that exclude the synced directory.
    pub(crate) further_sources: Vec<(Object, String)>,
    /// Whether the source is certainly the repository: the path exists and the other roots sync the same repository, or
    /// the configuration declares the root.
    pub(crate) is_own: bool,
    /// Whether the source is certainly another repository.
    pub(crate) syncs_other: bool,
}

impl Root {
    /// The source that the root syncs, if that source is the repository itself.
    pub(crate) fn own_source(&self) -> Option<SourceRef> {
        synced_source(self.objects.last().filter(|_| self.is_own)?)
    }

    /// Returns whether an object is the Kustomization that creates the root, possibly changed by a patch.
    pub(crate) fn is_sync(&self, object: &Object) -> bool {
        self.objects.last().is_some_and(|sync| is_kustomization(sync) && ObjectId::of(sync) == ObjectId::of(object))
    }

    /// The source of the root's Kustomization, if the bootstrap contains the source.
    pub(crate) fn source(&self) -> Option<&Object> {
        let sync = self.objects.last().filter(|object| is_kustomization(object))?;
        self.objects.iter().find(|source| is_source(source) && is_of(sync, source))
    }
}

/// The source that a FluxInstance or a Kustomization syncs.
pub(super) fn synced_source(object: &Object) -> Option<SourceRef> {
    if !object.is(groups::FLUX_OPERATOR, "FluxInstance") {
        return SourceRef::of_kustomization(object);
    }
    let namespace = object.namespace().unwrap_or(groups::FLUX_NAMESPACE);
    let sync_field = |key: &str| object.text_at(&["spec", "sync", key]).filter(|text| !text.is_empty());
    let (kind, name) = (sync_field("kind").unwrap_or("GitRepository"), sync_field("name").unwrap_or(namespace));
    Some(SourceRef { kind: kind.into(), namespace: namespace.into(), name: name.into() })
}

/// Returns whether a Kustomization references a source of the same namespace.
pub(super) fn is_of(kustomization: &Object, source: &Object) -> bool {
    let source_field = |key: &str| kustomization.text_at(&["spec", "sourceRef", key]);
    source_field("name") == Some(source.name()) && source_field("kind") == Some(source.kind())
}
