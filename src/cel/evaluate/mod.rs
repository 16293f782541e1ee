//! The evaluator.

mod scope;
mod evaluator;
mod select;
mod fold;

pub(super) use evaluator::evaluate;
