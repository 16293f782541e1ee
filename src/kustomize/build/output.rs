//! The result of a build.

use std::collections::BTreeSet;

use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::file::remote_base::{RemoteBase, UnreadBase};
use crate::kustomize::objects::patch_targets::PatchTarget;
use crate::kustomize::omission::Omissions;

/// The result of the build of a directory.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The objects in kustomize's order.
    pub objects: Vec<Object>,
    /// The positions of the objects that may lack the changes of a patch, component or transformer that failed.
    pub lacks_changes: BTreeSet<usize>,
    /// The errors. If there are errors, `objects` contains the objects that the build produced nevertheless.
    pub findings: Vec<Finding>,
    /// The omitted features with their counts, such as fields of kustomization files and `resources: <url>`.
    pub not_done: Omissions,
    /// Notices about inputs that the build omits because they are remote. `not_done` also counts these inputs.
    pub left_out: Vec<Finding>,
    /// Notices about Helm charts, which need another program. `not_done` also counts these charts.
    pub charts: Vec<Finding>,
    /// The patches with a `target`, each once.
    pub patch_targets: Vec<PatchTarget>,
    /// The bases that kustomizations load from a URL, with or without a copy.
    pub remote: Vec<RemoteBase>,
    /// The bases whose objects are missing, because the bases have no copy.
    pub unread: BTreeSet<UnreadBase>,
    /// The directories that contribute to the build.
    pub folders: BTreeSet<String>,
    /// The error about an empty kustomization in the directory itself.
    ///
    /// kustomize rejects an empty kustomization. Flux accepts an empty kustomization in the directory of a Flux
    /// Kustomization, so `Builder::build` does not add the error to the findings.
    pub empty: Option<Finding>,
}
