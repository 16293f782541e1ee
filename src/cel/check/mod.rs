//! The type checker: finds the function of each call, and reports references, fields and types that cannot be right.

mod type_error;
mod unify;
mod literals;
mod constants;
mod checker;

pub(super) use checker::check;
