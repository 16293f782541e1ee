//! The desired state of a cluster, as the repository describes it.

use std::sync::Arc;

use super::applied_set::{Applied, AppliedSet};
use super::applier::Applier;
use super::lookups::Lookups;
use crate::flux::install::roots::evidence::RootEvidence;
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
    /// The evidence of the repository for the root.
    pub evidence: RootEvidence,
    /// The appliers. The root is the first one, and each applier follows its parent.
    pub appliers: Vec<Arc<Applier>>,
    /// The objects that Flux applies to the cluster, or to other clusters through `kubeConfig`, in the order of the
    /// appliers.
    pub applied_sets: Vec<AppliedSet>,
    /// The lookup of the cluster's ConfigMaps and Secrets.
    pub(crate) lookups: Lookups,
}

impl Cluster {
    /// Returns whether no file contains the object of an applier: the linter generates it for a directory that no object
    /// applies. A user may apply the directory by hand instead, so that no applier reconciles it.
    pub fn is_generated(&self, applier: &Applier) -> bool {
        self.evidence.is_generated && applier.is_of_bootstrap()
    }

    /// The objects, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'_>> {
        self.applied_sets.iter().flat_map(AppliedSet::applied)
    }
}
