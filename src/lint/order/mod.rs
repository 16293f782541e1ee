//! The order in which objects are applied.

pub(super) mod applier_tree;
pub(super) mod apply_order;
pub(super) mod cold_start;
