//! The fixed point: the build of all objects that the roots reach, for all clusters at once.

pub(super) mod exchange;
pub(super) mod cluster_build;
pub(super) mod undefined_variables;
pub(super) mod unmatched_patches;
pub(super) mod outcome;
pub(super) mod unreached_path;
pub(super) mod crossed_path;
pub(super) mod waves;
