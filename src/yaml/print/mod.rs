//! The printer of nodes in house style.

pub(super) mod field_order;
mod quote;
pub(super) mod comments;
pub(super) mod printer;
