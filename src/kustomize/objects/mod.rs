//! The objects of a build, their order, and selectors of patches and replacements.

pub(super) mod trace;
pub(super) mod resources;
pub(super) mod order;
pub(super) mod selector;
pub(super) mod patch_targets;
