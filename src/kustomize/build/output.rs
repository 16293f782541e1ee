//! The result of a build.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::kube::Object;
use crate::kustomize::file::remote_base::RemoteBase;
use crate::kustomize::objects::patch_targets::PatchTarget;

/// What a folder builds to.
#[derive(Debug, Clone, Default)]
pub struct Build {
    /// The objects in kustomize's order.
    pub objects: Vec<Object>,
    /// What is wrong; the objects are then those that could be built nevertheless.
    pub findings: Vec<Finding>,
    /// What was asked for and not done, counted: fields of kustomization files, and `resources: <url>`.
    pub not_done: BTreeMap<String, usize>,
    /// What was left out because it lies elsewhere or needs another program, at its lines; `not_done` counts it too.
    pub left_out: Vec<Finding>,
    /// The patches with a target, each once, and whether they found anything; without those of which nobody can say it,
    /// since something was not done.
    pub patch_targets: Vec<PatchTarget>,
    /// What its kustomizations load from a URL, whether there is a copy of it or not.
    pub remote: Vec<RemoteBase>,
    /// The folders it was built from.
    pub folders: BTreeSet<String>,
    /// Set when the folder's own kustomization says nothing. kustomize refuses that; Flux does not, where it is the
    /// folder that a Flux Kustomization applies, so [`Builder::build`] leaves it out of the findings.
    pub empty: Option<Finding>,
}
