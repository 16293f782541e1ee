//! The evaluator.

mod scope;
mod operand;
mod select;
mod fold;
mod evaluator;

pub(super) use evaluator::evaluate;
