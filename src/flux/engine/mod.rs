//! The fixed point over all clusters: appliers are built in waves until nothing changes.

pub(super) mod shared_position;
pub(super) mod unknown_contents;
pub(super) mod cluster_index;
pub(super) mod lookups;
pub(super) mod unmatched_patches;
pub(super) mod unreached_path;
pub(super) mod cluster_build;
pub(super) mod outcome;
pub(super) mod waves;
