//! Operators other than `&&`, `||` and `?:`, and the function `size`.

use std::cmp::Ordering;

use super::function::{ALWAYS, Function};
use super::numbers;
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::Duration;
use crate::cel::types::Merge;
use crate::cel::value::{List, Map, Value, compare, contains, has_same_keys, is_equal, lookup_steps, number_key};

const ORDER: &[&str] = &[
    "(bool, bool) bool",
    "(int, int) bool",
    "(int, double) bool",
    "(int, uint) bool",
    "(uint, uint) bool",
    "(uint, double) bool",
    "(uint, int) bool",
    "(double, double) bool",
    "(double, int) bool",
    "(double, uint) bool",
    "(string, string) bool",
    "(bytes, bytes) bool",
    "(timestamp, timestamp) bool",
    "(duration, duration) bool",
];
const SIZE: &[&str] = &[
    "(bytes) int",
    "bytes.() int",
    "(list(A)) int",
    "list(A).() int",
    "(map(A, B)) int",
    "map(A, B).() int",
    "(string) int",
    "string.() int",
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("_==_", ALWAYS, &["(A, A) bool"], |arguments, budget| equality(arguments, budget).map(Value::Bool)),
    Function::new("_!=_", ALWAYS, &["(A, A) bool"], |arguments, budget| {
        equality(arguments, budget).map(|equal| Value::Bool(!equal))
    }),
    Function::new("_<_", ALWAYS, ORDER, |arguments, budget| order(arguments, budget, Ordering::is_lt)),
    Function::new("_<=_", ALWAYS, ORDER, |arguments, budget| order(arguments, budget, Ordering::is_le)),
    Function::new("_>_", ALWAYS, ORDER, |arguments, budget| order(arguments, budget, Ordering::is_gt)),
    Function::new("_>=_", ALWAYS, ORDER, |arguments, budget| order(arguments, budget, Ordering::is_ge)),
    Function::new("@in", ALWAYS, &["(A, list(A)) bool", "(A, map(A, B)) bool"], membership),
    Function::new(
        "_+_",
        ALWAYS,
        &[
            "(bytes, bytes) bytes",
            "(double, double) double",
            "(duration, duration) duration",
            "(duration, timestamp) timestamp",
            "(timestamp, duration) timestamp",
            "(int, int) int",
            "(list(A), list(A)) list(A)",
            "(string, string) string",
            "(uint, uint) uint",
        ],
        add,
    ),
    Function::new(
        "_-_",
        ALWAYS,
        &[
            "(double, double) double",
            "(duration, duration) duration",
            "(int, int) int",
            "(timestamp, duration) timestamp",
            "(timestamp, timestamp) duration",
            "(uint, uint) uint",
        ],
        subtract,
    ),
    Function::new("!_", ALWAYS, &["(bool) bool"], |arguments, _| match arguments {
        [Value::Bool(value)] => Ok(Value::Bool(!value)),
        _ => Err(Failure::no_overload()),
    }),
    Function::new(
        "_[_]",
        ALWAYS,
        &[
            "(list(A), int) A",
            "(map(A, B), A) B",
            "(optional(list(A)), int) optional(A)",
            "(optional(map(A, B)), A) optional(B)",
        ],
        |_, _| Err(Failure::no_overload()),
    ),
    Function::new(
        "_[?_]",
        ALWAYS,
        &[
            "(list(A), int) optional(A)",
            "(optional(list(A)), int) optional(A)",
            "(map(A, B), A) optional(B)",
            "(optional(map(A, B)), A) optional(B)",
        ],
        |_, _| Err(Failure::no_overload()),
    ),
    Function::new("size", ALWAYS, SIZE, |arguments, budget| match arguments {
        [Value::String(text)] => {
            budget.spend_text(text.len())?;
            Ok(length(text.chars().count()))
        }
        [Value::Bytes(bytes)] => Ok(length(bytes.len())),
        [Value::List(list)] => Ok(length(list.len())),
        [Value::Map(map)] => Ok(length(map.len())),
        _ => Err(Failure::no_overload()),
    }),
];

/// A length as an integer.
pub(super) fn length(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn equality(arguments: &[Value], budget: &mut Budget) -> Result<bool, Failure> {
    match arguments {
        [one, other] => is_equal(one, other, budget),
        _ => Err(Failure::no_overload()),
    }
}

fn order(arguments: &[Value], budget: &mut Budget, holds: fn(Ordering) -> bool) -> Result<Value, Failure> {
    let [one, other] = arguments else { return Err(Failure::no_overload()) };
    if let (Value::String(one), Value::String(other)) = (one, other) {
        budget.spend_text(one.len().min(other.len()))?;
    }
    compare(one, other).map(|ordering| Value::Bool(holds(ordering)))
}

fn membership(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    match arguments {
        [value, Value::List(list)] => contains(list, value, budget).map(Value::Bool),
        [value, Value::Map(map)] => {
            budget.spend(lookup_steps(map))?;
            Ok(Value::Bool(number_key(value).is_some_and(|key| map.get(&key).is_some())))
        }
        _ => Err(Failure::no_overload()),
    }
}

fn add(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    match arguments {
        [Value::String(one), Value::String(other)] => {
            budget.spend_text(one.len() + other.len())?;
            Ok(Value::text([&**one, &**other].concat()))
        }
        [Value::Bytes(one), Value::Bytes(other)] => {
            budget.spend_text(one.len() + other.len())?;
            Ok(Value::Bytes([&**one, &**other].concat().into()))
        }
        [Value::List(one), Value::List(other)] => add_lists(one, other, budget),
        [Value::Duration(one), Value::Duration(other)] => {
            one.0.checked_add(other.0).map(|sum| Value::Duration(Duration(sum))).ok_or_else(numbers::overflow)
        }
        [Value::Timestamp(time), Value::Duration(duration)] | [Value::Duration(duration), Value::Timestamp(time)] => {
            time.plus(duration.0.into()).map(Value::Timestamp).ok_or_else(numbers::time_overflow)
        }
        [one, other] => numbers::add(one, other),
        _ => Err(Failure::no_overload()),
    }
}

/// Joins two lists. A list of type `set` or `map` keeps one item for each identity.
fn add_lists(one: &List, other: &List, budget: &mut Budget) -> Result<Value, Failure> {
    budget.spend(one.len() + other.len())?;
    let merge = one.merge();
    let mut items: Vec<Value> = one.iter().collect();
    match &merge {
        Merge::Whole => items.extend(other.iter()),
        Merge::Set => {
            for item in other.iter() {
                if !contains(one, &item, budget)? {
                    items.push(item);
                }
            }
        }
        Merge::Map(keys) => {
            for item in other.iter() {
                let mut place = None;
                for (index, own) in items.iter().enumerate() {
                    if has_same_keys(own, &item, keys, budget)? {
                        place = Some(index);
                        break;
                    }
                }
                match place.and_then(|index| items.get_mut(index)) {
                    Some(own) => *own = item,
                    None => items.push(item),
                }
            }
        }
    }
    Ok(Value::List(List::Values(items.into(), merge)))
}

fn subtract(arguments: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    match arguments {
        [Value::Duration(one), Value::Duration(other)] => {
            one.0.checked_sub(other.0).map(|rest| Value::Duration(Duration(rest))).ok_or_else(numbers::overflow)
        }
        [Value::Timestamp(one), Value::Duration(other)] => {
            one.plus(-i128::from(other.0)).map(Value::Timestamp).ok_or_else(numbers::time_overflow)
        }
        [Value::Timestamp(one), Value::Timestamp(other)] => {
            one.since(*other).map(Value::Duration).ok_or_else(numbers::overflow)
        }
        [one, other] => numbers::subtract(one, other),
        _ => Err(Failure::no_overload()),
    }
}

/// The item or the entry at an index; `None` if it does not exist.
pub(in crate::cel) fn index(operand: &Value, index: &Value, budget: &mut Budget) -> Result<Option<Value>, Failure> {
    match (operand, index) {
        (Value::Unknown, _) | (_, Value::Unknown) => Err(Failure::Unknown),
        (Value::List(list), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            Ok(position(index)?.and_then(|at| list.get(at)))
        }
        (Value::Map(map), index) => {
            budget.spend(lookup_steps(map))?;
            let Some(key) = number_key(index) else {
                return if matches!((map, index), (Map::Node(_), _) | (_, Value::Double(_))) {
                    Ok(None)
                } else {
                    Err(Failure::error(format!("unsupported key type: {}", index.type_name())))
                };
            };
            Ok(map.get(&key))
        }
        _ => Err(Failure::no_overload()),
    }
}

/// The position that an index selects in a list; `None` for a negative index.
fn position(index: &Value) -> Result<Option<usize>, Failure> {
    let number = match index {
        Value::Int(value) => i128::from(*value),
        Value::Uint(value) => i128::from(*value),
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        Value::Double(value) if value.fract() == 0.0 => *value as i128,
        other => return Err(Failure::error(format!("unsupported index type '{}' in list", other.type_name()))),
    };
    Ok(usize::try_from(number).ok())
}
