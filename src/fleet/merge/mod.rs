//! Levels of settings, merged in order.

pub(super) mod expression;
pub(super) mod repositories;
pub(super) mod levels;
pub(super) mod extend;
