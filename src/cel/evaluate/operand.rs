//! The parts of an expression.

use super::scope::{Evaluated, Scope};
use crate::cel::failure::Failure;
use crate::cel::syntax::Expr;
use crate::cel::value::Value;

/// The value of a part. Only a variable or a field can be the value [`Value::Unknown`].
pub(super) fn value(expr: &Expr, scope: &mut Scope<'_>) -> Evaluated {
    (scope.step)(expr, scope)
}

/// The value, if it is known.
pub(super) fn known(value: Value) -> Evaluated {
    if value.is_unknown() { Err(Failure::Unknown) } else { Ok(value) }
}

/// The truth of an expression.
pub(super) fn boolean(expr: &Expr, scope: &mut Scope<'_>) -> Result<bool, Failure> {
    match value(expr, scope)? {
        Value::Bool(value) => Ok(value),
        Value::Unknown => Err(Failure::Unknown),
        _ => Err(Failure::no_overload()),
    }
}

/// Evaluates conditions until one has the deciding value. Otherwise, an unknown value wins over an error.
pub(super) fn decide<T>(
    conditions: impl Iterator<Item = T>,
    deciding: bool,
    scope: &mut Scope<'_>,
    holds: &mut dyn FnMut(T, &mut Scope<'_>) -> Result<bool, Failure>,
) -> Evaluated {
    let mut failure = None;
    for condition in conditions {
        match holds(condition, scope) {
            Ok(value) if value == deciding => return Ok(Value::Bool(deciding)),
            Ok(_) => {}
            Err(Failure::Limit) => return Err(Failure::Limit),
            Err(Failure::Unknown) => failure = Some(Failure::Unknown),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(Value::Bool(!deciding)), Err)
}
