//! The objects of a build, their order, and how patches and replacements select them.

pub(super) mod trace;
pub(super) mod resources;
pub(super) mod order;
pub(super) mod selector;
pub(super) mod patch_targets;
