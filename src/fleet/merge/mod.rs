//! Levels of settings, merged in order.

pub(super) mod expression;
pub(super) mod repositories;
mod policies;
pub(super) mod levels;
pub(super) mod crossing;
pub(super) mod placement;
pub(super) mod extend;
