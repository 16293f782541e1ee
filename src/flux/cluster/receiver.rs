//! Who receives objects: each cluster, and each other one that it applies to by `kubeConfig`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::applied_set::{Applied, Brought};
use super::applier::Applier;
use super::desired_state::Cluster;
use crate::yaml::Name;

/// A cluster that receives objects, and the one whose Flux applies them.
#[derive(Debug, Clone)]
pub struct Receiver<'a> {
    /// The cluster whose Flux applies.
    pub cluster: &'a Cluster,
    /// The other cluster that it applies to, by the name of the `kubeConfig`'s Secret or ConfigMap.
    pub target: Option<Name>,
}

/// What one applier brings to a receiver.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Who applies.
    pub applier: &'a Arc<Applier>,
    /// What, in the order of the build.
    pub objects: Vec<Applied<'a>>,
}

impl<'a> Receiver<'a> {
    /// Those of a cluster: itself, then the others in the order of their names.
    pub fn of(cluster: &'a Cluster) -> Vec<Self> {
        let targets: BTreeSet<&Name> = cluster.appliers.iter().filter_map(|applier| applier.target.as_ref()).collect();
        let others = targets.into_iter().map(|target| Self { cluster, target: Some(target.clone()) });
        std::iter::once(Self { cluster, target: None }).chain(others).collect()
    }

    /// What is brought to it, as it lies in the cluster whose Flux applies.
    pub fn brought(&self) -> impl Iterator<Item = &'a Brought> {
        self.cluster.brought.iter().filter(|brought| brought.by.target == self.target)
    }

    /// What it receives, by applier, in their order; an applier that brings nothing has a group too.
    pub fn groups(&self) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::with_capacity(self.cluster.appliers.len());
        groups.extend(self.cluster.appliers.iter().map(|applier| Group { applier, objects: Vec::new() }));
        for brought in &self.cluster.brought {
            let Some(group) = groups.get_mut(brought.by.at) else { continue };
            group.objects.extend(brought.applied());
        }
        groups.retain(|group| group.applier.target == self.target);
        groups
    }
}

impl fmt::Display for Receiver<'_> {
    /// Writes its name: the cluster's, and `cluster/target` for another one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Some(target) if self.cluster.name.is_empty() => f.write_str(target),
            Some(target) => write!(f, "{}/{target}", self.cluster.name),
            None => f.write_str(&self.cluster.name),
        }
    }
}
