//! The desired state of a cluster, as the repository describes it.

use std::sync::Arc;

use super::applied_set::{Applied, AppliedSet};
use super::applier::Applier;
use super::lookups::Lookups;
use crate::yaml::Name;

/// The desired state of a cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The name. It is empty for a repository without a root, which is checked as if one cluster received all
    /// directories.
    pub name: Name,
    /// The directory that the root syncs; the directory of the bootstrap if the repository does not contain the synced
    /// directory.
    pub folder: String,
    /// Whether the repository contains bootstraps, but only a directory of this cluster, so that the cluster may not
    /// exist; or whether the cluster already syncs the repository that replaces this one.
    pub is_assumed: bool,
    /// Whether the cluster syncs another repository than most clusters, which may contain further directories.
    pub may_have_more_files: bool,
    /// Whether no object of the repository bootstraps any cluster. Another repository may then apply objects to the
    /// cluster too.
    pub lacks_bootstrap: bool,
    /// The appliers. The root is the first one, and each applier follows its parent.
    pub appliers: Vec<Arc<Applier>>,
    /// The objects that Flux applies to the cluster, or to other clusters through `kubeConfig`, in the order of the
    /// appliers.
    pub applied_sets: Vec<AppliedSet>,
    /// The lookup of the cluster's ConfigMaps and Secrets.
    pub(crate) lookups: Lookups,
}

impl Cluster {
    /// The objects, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'_>> {
        self.applied_sets.iter().flat_map(AppliedSet::applied)
    }
}
