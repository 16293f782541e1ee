//! The order of lists.

use std::cmp::Ordering;

use super::arguments::list;
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::{Value, compare};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "isSorted",
        ALWAYS,
        &[
            "list(int).() bool",
            "list(uint).() bool",
            "list(double).() bool",
            "list(bool).() bool",
            "list(duration).() bool",
            "list(timestamp).() bool",
            "list(string).() bool",
            "list(bytes).() bool",
        ],
        |arguments, budget| {
            let mut previous: Option<Value> = None;
            for item in list(arguments, 0, budget)?.iter() {
                let is_greater = match (&previous, &item) {
                    // NaN is in order everywhere.
                    (Some(Value::Double(previous)), Value::Double(item)) => previous > item,
                    (Some(previous), item) => compare(previous, item)?.is_gt(),
                    (None, _) => false,
                };
                if is_greater {
                    return Ok(Value::Bool(false));
                }
                previous = Some(item);
            }
            Ok(Value::Bool(true))
        },
    ),
    Function::new("sort", 34, SORT, |arguments, budget| {
        let items: Vec<Value> = list(arguments, 0, budget)?.iter().collect();
        sort_by_keys(items.clone().into_iter().zip(items).collect(), budget)
    }),
    // The checker uses these signatures for `sortBy`, whose macro evaluates the keys.
    Function::new("@sortByAssociatedKeys", 34, SORT, |_, _| Err(Failure::no_overload())),
];

const SORT: &[&str] = &[
    "list(int).() list(int)",
    "list(uint).() list(uint)",
    "list(double).() list(double)",
    "list(bool).() list(bool)",
    "list(duration).() list(duration)",
    "list(timestamp).() list(timestamp)",
    "list(string).() list(string)",
    "list(bytes).() list(bytes)",
];

/// Sorts items by their keys. The keys must have one type.
pub(in crate::cel) fn sort_by_keys(mut pairs: Vec<(Value, Value)>, budget: &mut Budget) -> Result<Value, Failure> {
    let Some((first, _)) = pairs.first() else { return Ok(Value::list([])) };
    // The comparisons of the sort cannot fail after this check.
    for (key, _) in &pairs {
        if key.is_unknown() {
            return Err(Failure::Unknown);
        }
        if std::mem::discriminant(key) != std::mem::discriminant(first) {
            return Err(Failure::error("list elements must have the same type"));
        }
        if let Value::String(text) = key {
            budget.spend_text(text.len())?;
        }
        if !matches!(key, Value::Double(number) if number.is_nan()) {
            compare(key, key).map_err(|_| Failure::error("list elements must be comparable"))?;
        }
    }
    let depth = usize::try_from(pairs.len().ilog2()).unwrap_or(0) + 1;
    budget.spend(pairs.len().saturating_mul(depth))?;
    pairs.sort_by(|(one, _), (other, _)| match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.total_cmp(other),
        (one, other) => compare(one, other).unwrap_or(Ordering::Equal),
    });
    Ok(Value::list(pairs.into_iter().map(|(_, item)| item)))
}
