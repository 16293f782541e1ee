//! Patches: strategic merges and JSON patches.

pub(super) mod json_patch;
pub(super) mod merge_step;
pub(super) mod merge_lists;
pub(super) mod strategic_merge;
pub(super) mod apply;
pub(super) mod read;
