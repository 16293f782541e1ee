//! The state of a cluster as a repository describes it.

use std::sync::Arc;

use super::applied_set::{Applied, Brought};
use super::applier::Applier;
use super::lookups::Lookups;
use crate::yaml::Name;

/// A cluster, as the repository describes it.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its name; empty for a repository without any root, which is judged as if one cluster received its folders.
    pub name: Name,
    /// Who applies objects to it or from it, the root first, each after the one that brings it.
    pub appliers: Vec<Arc<Applier>>,
    /// What it receives, and what it sends to others by `kubeConfig`, in the order of the appliers.
    pub brought: Vec<Brought>,
    /// What it has, by name.
    pub(crate) lookups: Lookups,
}

impl Cluster {
    /// The objects, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'_>> {
        self.brought.iter().flat_map(Brought::applied)
    }
}
