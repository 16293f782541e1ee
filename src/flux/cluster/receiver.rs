//! Receivers of objects: each cluster, and each other cluster to which its Flux applies objects through `kubeConfig`.

use std::collections::BTreeMap;
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
    /// The positions of the cluster's appliers and applied sets for the receiver. A hub may apply to thousands of clusters.
    appliers: Arc<[usize]>,
    applied_sets: Arc<[usize]>,
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
        let mut all: BTreeMap<Option<&Name>, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        all.entry(None).or_default();
        for (at, applier) in cluster.appliers.iter().enumerate() {
            all.entry(applier.target.as_ref()).or_default().0.push(at);
        }
        for (at, set) in cluster.applied_sets.iter().enumerate() {
            if let Some((_, sets)) = all.get_mut(&set.by.target.as_ref()) {
                sets.push(at);
            }
        }
        let all = all.into_iter().map(|(target, (appliers, applied_sets))| Self {
            cluster,
            target: target.cloned(),
            appliers: appliers.into(),
            applied_sets: applied_sets.into(),
        });
        all.collect()
    }

    /// The appliers that apply objects to the receiver.
    pub fn appliers(&self) -> impl Iterator<Item = &'a Arc<Applier>> + use<'a> {
        let (cluster, positions) = (self.cluster, self.appliers.clone());
        (0..positions.len()).filter_map(move |at| cluster.appliers.get(*positions.get(at)?))
    }

    /// The sets that appliers apply to the receiver.
    pub fn applied_sets(&self) -> impl Iterator<Item = &'a AppliedSet> + use<'a> {
        let (cluster, positions) = (self.cluster, self.applied_sets.clone());
        (0..positions.len()).filter_map(move |at| cluster.applied_sets.get(*positions.get(at)?))
    }

    /// The objects by applier, in order. An applier without objects has an empty group.
    pub fn groups(&self) -> Vec<Group<'a>> {
        let mut groups: BTreeMap<usize, Group<'a>> =
            self.appliers().map(|applier| (applier.at, Group { applier, objects: Vec::new() })).collect();
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
