//! Functions of lists.

use std::cmp::Ordering;

use super::arguments::{int, list};
use super::function::{ALWAYS, Function};
use super::operators::length;
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::Duration;
use crate::cel::value::{List, Value, compare, contains, is_equal};

/// The version that introduced the list library of CEL.
const LISTS: u32 = 34;
/// The maximum number of nested lists that `flatten` opens.
const MAX_NESTING: i64 = 100;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "sum",
        ALWAYS,
        &["list(int).() int", "list(uint).() uint", "list(double).() double", "list(duration).() duration"],
        sum,
    ),
    Function::new("max", ALWAYS, EXTREME, |arguments, budget| extreme(arguments, budget, "max", Ordering::Less)),
    Function::new("min", ALWAYS, EXTREME, |arguments, budget| extreme(arguments, budget, "min", Ordering::Greater)),
    Function::new("slice", LISTS, &["list(A).(int, int) list(A)"], slice),
    Function::new("flatten", LISTS, &["list(list(A)).() list(A)", "list(dyn).(int) list(dyn)"], flatten),
    Function::new("lists.range", LISTS, &["(int) list(int)"], |arguments, budget| {
        let count = int(arguments, 0)?.max(0);
        budget.spend(usize::try_from(count).unwrap_or(usize::MAX))?;
        Ok(Value::list((0..count).map(Value::Int)))
    }),
    Function::new("reverse", LISTS, &["list(A).() list(A)"], |arguments, budget| {
        list(arguments, 0, budget).map(|list| Value::list(list.iter().rev()))
    }),
    Function::new("distinct", LISTS, &["list(A).() list(A)"], distinct),
    Function::new("first", ALWAYS, &["list(A).() optional(A)"], |arguments, budget| {
        Ok(Value::Optional(list(arguments, 0, budget)?.get(0).map(Into::into)))
    }),
    Function::new("last", ALWAYS, &["list(A).() optional(A)"], |arguments, budget| {
        let list = list(arguments, 0, budget)?;
        Ok(Value::Optional(list.len().checked_sub(1).and_then(|last| list.get(last)).map(Into::into)))
    }),
];

const EXTREME: &[&str] = &[
    "list(int).() int",
    "list(uint).() uint",
    "list(double).() double",
    "list(bool).() bool",
    "list(duration).() duration",
    "list(timestamp).() timestamp",
    "list(string).() string",
    "list(bytes).() bytes",
];

/// The sum of numbers. The type of the sum of an empty list depends on the type of the list, which is not known here.
fn sum(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let mut sum = Value::Int(0);
    for (index, item) in list(arguments, 0, budget)?.iter().enumerate() {
        sum = match (sum, &item) {
            (_, Value::Unknown) => return Err(Failure::Unknown),
            (_, Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_)) if index == 0 => item,
            (Value::Duration(one), Value::Duration(other)) => {
                let sum = one.0.checked_add(other.0).ok_or_else(super::numbers::overflow)?;
                Value::Duration(Duration(sum))
            }
            (sum, item) => super::numbers::add(&sum, item)?,
        };
    }
    Ok(sum)
}

/// The first item that no other item exceeds.
fn extreme(arguments: &[Value], budget: &mut Budget, name: &str, worse: Ordering) -> Result<Value, Failure> {
    let mut best: Option<Value> = None;
    for item in list(arguments, 0, budget)?.iter() {
        best = Some(match best {
            Some(best) if compare(&best, &item)? != worse => best,
            None if item.is_unknown() => return Err(Failure::Unknown),
            _ => item,
        });
    }
    best.ok_or_else(|| Failure::error(format!("{name} called on empty list")))
}

/// The index of the first or the last item that equals a value.
pub(super) fn index_of(arguments: &[Value], budget: &mut Budget, from_end: bool) -> Result<Value, Failure> {
    let [Value::List(list), value] = arguments else { return Err(Failure::no_overload()) };
    let count = list.len();
    for step in 0..count {
        let index = if from_end { count - 1 - step } else { step };
        let Some(item) = list.get(index) else { continue };
        if is_equal(&item, value, budget)? {
            return Ok(length(index));
        }
    }
    Ok(Value::Int(-1))
}

fn slice(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (list, start, end) = (list(arguments, 0, budget)?, int(arguments, 1)?, int(arguments, 2)?);
    let fail = |why: String| Failure::error(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(fail("negative indexes not supported".into()));
    };
    if from > to {
        return Err(fail("start index must be less than or equal to end index".into()));
    }
    if to > list.len() {
        return Err(fail(format!("list is length {}", list.len())));
    }
    Ok(Value::list((from..to).filter_map(|index| list.get(index))))
}

fn flatten(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let depth = if arguments.len() > 1 { int(arguments, 1)? } else { 1 };
    if depth < 0 {
        return Err(Failure::error("level must be non-negative"));
    }
    let mut items = Vec::new();
    collect(list(arguments, 0, budget)?, depth.min(MAX_NESTING), &mut items, budget)?;
    Ok(Value::list(items))
}

fn collect(list: &List, depth: i64, items: &mut Vec<Value>, budget: &mut Budget) -> Result<(), Failure> {
    for item in list.iter() {
        budget.spend(1)?;
        match item {
            Value::List(inner) if depth > 0 => collect(&inner, depth - 1, items, budget)?,
            other => items.push(other),
        }
    }
    Ok(())
}

fn distinct(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let mut kept: Vec<Value> = Vec::new();
    for item in list(arguments, 0, budget)?.iter() {
        let mut is_new = true;
        for other in &kept {
            if is_equal(other, &item, budget)? {
                is_new = false;
                break;
            }
        }
        if is_new {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

/// Returns whether a list contains all items of another.
pub(super) fn contains_all(list: &List, items: &List, budget: &mut Budget) -> Result<bool, Failure> {
    let mut unknown = false;
    for item in items.iter() {
        match contains(list, &item, budget) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Failure::Unknown) => unknown = true,
            Err(failure) => return Err(failure),
        }
    }
    if unknown { Err(Failure::Unknown) } else { Ok(true) }
}
