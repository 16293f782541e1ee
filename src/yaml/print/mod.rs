//! The printer of the house style.

pub(super) mod field_order;
mod quote;
pub(super) mod printer;
