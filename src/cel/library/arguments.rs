//! Access to the arguments of a function.

use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::{List, Value};

/// The text at a position of the arguments. Reading it costs steps.
pub(crate) fn text<'a>(arguments: &'a [Value], at: usize, budget: &mut Budget) -> Result<&'a str, Failure> {
    match arguments.get(at) {
        Some(Value::String(text)) => {
            budget.spend_text(text.len())?;
            Ok(text)
        }
        _ => Err(Failure::no_overload()),
    }
}

/// The integer at a position of the arguments.
pub(crate) fn int(arguments: &[Value], at: usize) -> Result<i64, Failure> {
    match arguments.get(at) {
        Some(Value::Int(value)) => Ok(*value),
        _ => Err(Failure::no_overload()),
    }
}

/// The list at a position of the arguments. Reading it costs a step for each item.
pub(crate) fn list<'a>(arguments: &'a [Value], at: usize, budget: &mut Budget) -> Result<&'a List, Failure> {
    match arguments.get(at) {
        Some(Value::List(list)) => {
            budget.spend(list.len())?;
            Ok(list)
        }
        _ => Err(Failure::no_overload()),
    }
}
