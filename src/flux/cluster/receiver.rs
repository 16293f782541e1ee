//! Receivers of objects: each cluster, and each other cluster to which its Flux applies objects through `kubeConfig`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::applied_set::{Applied, AppliedSet};
use super::applier::Applier;
use super::desired_state::Cluster;
use crate::yaml::Name;

/// A cluster that receives objects, with the cluster whose Flux applies them.
#[derive(Debug, Clone)]
pub struct Receiver<'a> {
    /// The cluster whose Flux applies the objects.
    pub cluster: &'a Cluster,
    /// The other cluster, by the name of the Secret or ConfigMap in `kubeConfig`; `None` for the cluster itself.
    pub target: Option<Name>,
}

/// The objects that one applier applies to a receiver.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// The applier.
    pub applier: &'a Arc<Applier>,
    /// The objects, in the order of the build.
    pub objects: Vec<Applied<'a>>,
}

impl<'a> Receiver<'a> {
    /// The receivers of a cluster: the cluster itself, then other clusters by name.
    pub fn all(cluster: &'a Cluster) -> Vec<Self> {
        let targets: BTreeSet<&Name> = cluster.appliers.iter().filter_map(|applier| applier.target.as_ref()).collect();
        let others = targets.into_iter().map(|target| Self { cluster, target: Some(target.clone()) });
        std::iter::once(Self { cluster, target: None }).chain(others).collect()
    }

    /// The sets that appliers apply to the receiver.
    pub fn applied_sets(&self) -> impl Iterator<Item = &'a AppliedSet> {
        self.cluster.applied_sets.iter().filter(|set| set.by.target == self.target)
    }

    /// The objects by applier, in order. An applier without objects has an empty group.
    pub fn groups(&self) -> Vec<Group<'a>> {
        let own = self.cluster.appliers.iter().filter(|applier| applier.target == self.target);
        let mut groups: BTreeMap<usize, Group<'a>> =
            own.map(|applier| (applier.at, Group { applier, objects: Vec::new() })).collect();
        for set in self.applied_sets() {
            let Some(group) = groups.get_mut(&set.by.at) else { continue };
            group.objects.extend(set.applied());
        }
        groups.into_values().collect()
    }
}

impl fmt::Display for Receiver<'_> {
    /// Writes the name of the cluster, or `cluster/target` for another cluster.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) if self.cluster.name.is_empty() => f.write_str(target),
            Some(target) => write!(f, "{}/{target}", self.cluster.name),
            None => f.write_str(&self.cluster.name),
        }
    }
}
