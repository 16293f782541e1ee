//! The order in which appliers apply objects.

pub(super) mod applier_tree;
pub(super) mod apply_order;
pub(super) mod chart_uses;
pub(super) mod late_uses;
pub(super) mod definitions;
