//! The desired state of a cluster, as the repository describes it.

use std::sync::Arc;

use super::applied_set::{Applied, AppliedSet};
use super::applier::Applier;
use super::lookups::Lookups;
use crate::yaml::Name;

/// The desired state of a cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The name; empty for a repository without a root, which is checked as if one cluster received all directories.
    pub name: Name,
    /// The directory that its root syncs, or that of the bootstrap if the repository does not contain it.
    pub folder: String,
    /// The appliers: the root first, each after its parent.
    pub appliers: Vec<Arc<Applier>>,
    /// The objects that the cluster receives, or applies to other clusters through `kubeConfig`, in the order of the
    /// appliers.
    pub applied_sets: Vec<AppliedSet>,
    /// The lookup of its `ConfigMap`s and Secrets.
    pub(crate) lookups: Lookups,
}

impl Cluster {
    /// The objects, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'_>> {
        self.applied_sets.iter().flat_map(AppliedSet::applied)
    }
}
