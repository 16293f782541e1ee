//! Equality and order of values.

use std::cmp::Ordering;

use super::data::{List, Map, MapKey, Value};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::types::Merge;

/// The first double above every signed integer.
const ABOVE_INT: f64 = 9_223_372_036_854_775_808.0;
/// The first double above every unsigned integer.
const ABOVE_UINT: f64 = 18_446_744_073_709_551_616.0;

/// Returns whether two values are equal. Numbers of different types are equal if they have the same value.
pub(crate) fn is_equal(one: &Value, other: &Value, budget: &mut Budget) -> Result<bool, Failure> {
    budget.spend(1)?;
    Ok(match (one, other) {
        (Value::Unknown, _) | (_, Value::Unknown) => return Err(Failure::Unknown),
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::String(one), Value::String(other)) => {
            budget.spend_text(one.len().min(other.len()))?;
            one == other
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            budget.spend_text(one.len().min(other.len()))?;
            one == other
        }
        (Value::Duration(one), Value::Duration(other)) => one == other,
        (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
        (Value::List(one), Value::List(other)) => return lists_equal(one, other, budget),
        (Value::Map(one), Value::Map(other)) => return maps_equal(one, other, budget),
        (Value::Optional(one), Value::Optional(other)) => match (one, other) {
            (Some(one), Some(other)) => return is_equal(one, other, budget),
            (one, other) => one.is_none() == other.is_none(),
        },
        (Value::Type(one), Value::Type(other)) => one == other,
        (Value::Quantity(one), Value::Quantity(other)) => one.quantity == other.quantity,
        (Value::Url(one), Value::Url(other)) => one == other,
        (Value::Ip(one), Value::Ip(other)) => one == other,
        (Value::Cidr(one), Value::Cidr(other)) => one == other,
        (Value::Semver(one), Value::Semver(other)) => one == other,
        (Value::Format(one), Value::Format(other)) => one == other,
        (one, other) => compare_numbers(one, other) == Some(Ordering::Equal),
    })
}

/// Compares lists. A definite difference wins over an unknown item.
fn lists_equal(one: &List, other: &List, budget: &mut Budget) -> Result<bool, Failure> {
    if one.len() != other.len() {
        return Ok(false);
    }
    match one.merge() {
        Merge::Whole => all(one.iter().zip(other.iter()), |(one, other)| is_equal(&one, &other, budget)),
        Merge::Set => all(one.iter(), |item| contains(other, &item, budget)),
        Merge::Map(keys) => all(one.iter(), |item| {
            for candidate in other.iter() {
                if has_same_keys(&item, &candidate, &keys, budget)? {
                    return is_equal(&item, &candidate, budget);
                }
            }
            Ok(false)
        }),
    }
}

/// Returns whether a list contains a value.
pub(crate) fn contains(list: &List, value: &Value, budget: &mut Budget) -> Result<bool, Failure> {
    let mut unknown = false;
    for item in list.iter() {
        match is_equal(&item, value, budget) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(Failure::Unknown) => unknown = true,
            Err(failure) => return Err(failure),
        }
    }
    if unknown { Err(Failure::Unknown) } else { Ok(false) }
}

/// Returns whether two items of a list of type `map` have the same identity.
pub(crate) fn has_same_keys(
    one: &Value,
    other: &Value,
    keys: &[arcstr::ArcStr],
    budget: &mut Budget,
) -> Result<bool, Failure> {
    let (Value::Map(one), Value::Map(other)) = (one, other) else { return Ok(false) };
    all(keys.iter(), |key| {
        let key = MapKey::String(key.clone());
        match (one.get(&key), other.get(&key)) {
            (Some(one), Some(other)) => is_equal(&one, &other, budget),
            (one, other) => Ok(one.is_none() == other.is_none()),
        }
    })
}

fn maps_equal(one: &Map, other: &Map, budget: &mut Budget) -> Result<bool, Failure> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let lookup = lookup_steps(other);
    all(one.pairs(), |(key, value)| {
        budget.spend(lookup)?;
        other.get(&key).map_or(Ok(false), |other| is_equal(&value, &other, budget))
    })
}

/// The steps of a search for a key. The entries of a node are not indexed.
pub(crate) fn lookup_steps(map: &Map) -> usize {
    match map {
        Map::Values(_) => 1,
        Map::Node(_) => 1 + map.len() / 64,
    }
}

/// Returns whether a condition holds for all items. A definite `false` wins over an unknown result.
fn all<T>(items: impl Iterator<Item = T>, mut holds: impl FnMut(T) -> Result<bool, Failure>) -> Result<bool, Failure> {
    let mut unknown = false;
    for item in items {
        match holds(item) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Failure::Unknown) => unknown = true,
            Err(failure) => return Err(failure),
        }
    }
    if unknown { Err(Failure::Unknown) } else { Ok(true) }
}

/// Compares two values that have an order.
pub(crate) fn compare(one: &Value, other: &Value) -> Result<Ordering, Failure> {
    Ok(match (one, other) {
        (Value::Unknown, _) | (_, Value::Unknown) => return Err(Failure::Unknown),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
        (Value::Timestamp(one), Value::Timestamp(other)) => one.cmp(other),
        (Value::Double(one), Value::Int(_) | Value::Uint(_) | Value::Double(_)) if one.is_nan() => return Err(nan()),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Double(other)) if other.is_nan() => {
            return Err(nan());
        }
        (one, other) => compare_numbers(one, other).ok_or_else(Failure::no_overload)?,
    })
}

fn nan() -> Failure {
    Failure::error("NaN values cannot be ordered")
}

/// Compares two numbers; `None` for other values and for NaN.
#[expect(clippy::cast_precision_loss, reason = "the API server also compares integers with doubles as doubles")]
fn compare_numbers(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
        (Value::Uint(one), Value::Uint(other)) => Some(one.cmp(other)),
        (Value::Int(one), Value::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Uint(one), Value::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Int(one), Value::Double(other)) => (*one as f64).partial_cmp(other),
        (Value::Uint(one), Value::Double(other)) => (*one as f64).partial_cmp(other),
        (Value::Double(one), Value::Int(other)) => one.partial_cmp(&(*other as f64)),
        (Value::Double(one), Value::Uint(other)) => one.partial_cmp(&(*other as f64)),
        _ => None,
    }
}

/// The key of a map for a value. A whole double finds the same key as an integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub(crate) fn number_key(value: &Value) -> Option<MapKey> {
    match value {
        Value::Double(value) if value.fract() == 0.0 && (-ABOVE_INT..ABOVE_INT).contains(value) => {
            Some(MapKey::Int(*value as i64))
        }
        Value::Double(value) if value.fract() == 0.0 && (0.0..ABOVE_UINT).contains(value) => {
            Some(MapKey::Uint(*value as u64))
        }
        other => other.as_key(),
    }
}
