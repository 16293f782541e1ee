//! Optional values. The evaluator handles `or` and `orValue`, since they do not always evaluate their argument.

use super::arguments::list;
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::Duration;
use crate::cel::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("optional.of", ALWAYS, &["(A) optional(A)"], |arguments, _| match arguments {
        [value] => Ok(Value::some(value.clone())),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("optional.ofNonZeroValue", ALWAYS, &["(A) optional(A)"], |arguments, _| match arguments {
        [value] if is_zero(value) => Ok(Value::Optional(None)),
        [value] => Ok(Value::some(value.clone())),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("optional.none", ALWAYS, &["() optional(A)"], |_, _| Ok(Value::Optional(None))),
    Function::new("value", ALWAYS, &["optional(A).() A"], |arguments, _| match arguments {
        [Value::Optional(Some(value))] => Ok(Value::clone(value)),
        [Value::Optional(None)] => Err(Failure::error("optional.none() dereference")),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("hasValue", ALWAYS, &["optional(A).() bool"], |arguments, _| match arguments {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("or", ALWAYS, &["optional(A).(optional(A)) optional(A)"], |_, _| Err(Failure::no_overload())),
    Function::new("orValue", ALWAYS, &["optional(A).(A) A"], |_, _| Err(Failure::no_overload())),
    Function::new("optional.unwrap", ALWAYS, &["(list(optional(A))) list(A)"], unwrap),
    Function::new("unwrapOpt", ALWAYS, &["list(optional(A)).() list(A)"], unwrap),
];

/// The contents of the optional values of a list.
fn unwrap(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let mut contents = Vec::new();
    for item in list(arguments, 0, budget)?.iter() {
        match item {
            Value::Optional(value) => contents.extend(value.map(|value| Value::clone(&value))),
            Value::Unknown => return Err(Failure::Unknown),
            other => return Err(Failure::error(format!("value {} is not optional", other.type_name()))),
        }
    }
    Ok(Value::list(contents))
}

/// Returns whether a value is the default of its type, or empty.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Optional(None) => true,
        Value::Double(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Duration(Duration(nanos)) => *nanos == 0,
        Value::Optional(Some(value)) => is_zero(value),
        _ => false,
    }
}
