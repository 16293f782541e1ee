//! The presence of referenced objects on a cluster.

pub(super) mod confinement;
pub(super) mod generators;
pub(super) mod on_cluster;
pub(super) mod own_inputs;
pub(super) mod keys;
mod program_folders;
pub(super) mod failed_appliers;
mod missing_object;
pub(super) mod missing;
pub(super) mod dangling;
pub(super) mod unused_sources;
