//! Clusters: their appliers, the objects that they receive, and the lookup of objects.

pub(super) mod applier;
pub(super) mod applied_set;
pub(super) mod apply_mode;
pub(super) mod shared_position;
pub(super) mod unknown_namespaces;
pub(super) mod cluster_index;
pub(super) mod lookups;
pub(super) mod desired_state;
pub(super) mod receiver;
pub(super) mod shape;
