//! The objects of other clusters, to which Kustomizations with `kubeConfig` apply them.

use std::collections::BTreeSet;

use crate::base::finding::ObjectRef;
use crate::flux::{AppliedSet, Receiver, Repo, is_kustomization, is_resource_set};
use crate::kube::Object;
use crate::lint::facts::distinct::{WrittenPosition, written_position};
use crate::lint::view::View;

/// The appliers whose objects are not checked as those of other appliers, since another cluster receives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemoteAppliers {
    /// The appliers that apply objects to another cluster, from a cluster with tenants: no rule knows the tenants of the
    /// other cluster.
    pub without_tenants: usize,
    /// The Kustomizations and ResourceSets that another cluster receives, and that no cluster of the repository builds.
    pub not_built: usize,
}

impl RemoteAppliers {
    /// Counts the distinct appliers of the selected clusters.
    pub(super) fn of(repo: &Repo, views: &[View<'_>], receivers: &[&Receiver<'_>]) -> Self {
        let mut without_tenants: BTreeSet<&ObjectRef> = BTreeSet::new();
        let hubs = views.iter().filter(|view| view.receiver.target.is_none() && view.tenancy().multi_tenant);
        for view in hubs {
            let appliers = view.receiver.cluster.appliers.iter();
            without_tenants.extend(appliers.filter(|by| by.target.is_some()).map(|by| &by.reference));
        }
        let remote = receivers.iter().filter(|receiver| receiver.target.is_some());
        let received = remote.flat_map(|receiver| receiver.applied_sets()).flat_map(AppliedSet::tenancy_objects);
        let received = received.map(|applied| applied.object).filter(|object| is_applier(object));
        let mut not_built: BTreeSet<WrittenPosition<'_>> = received.map(written_position).collect();
        if !not_built.is_empty() {
            // The other cluster may be a cluster of the repository.
            let appliers = repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
            for object in appliers.filter_map(|applier| applier.object.as_ref()) {
                not_built.remove(&written_position(object));
            }
        }
        Self { without_tenants: without_tenants.len(), not_built: not_built.len() }
    }
}

/// Returns whether Flux on the cluster of an object applies further objects because of the object.
fn is_applier(object: &Object) -> bool {
    is_kustomization(object) || is_resource_set(object)
}
