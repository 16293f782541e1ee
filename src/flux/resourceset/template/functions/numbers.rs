//! Numbers, and conversions to numbers.

use super::function::{Function, arg, error, int, paid, text};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Float, Int, Text};
use crate::flux::resourceset::template::go;
use crate::flux::resourceset::template::value::{Kind, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("int", &[Any], None, |a, _| Ok(Value::new(Kind::Int(whole(arg(a, 0)))))),
    Function::new("int64", &[Any], None, |a, _| long(whole(arg(a, 0)))),
    Function::new("float64", &[Any], None, |a, _| real(float(arg(a, 0)))),
    Function::new("atoi", &[Text], None, |a, _| Ok(Value::new(Kind::Int(text(a, 0).parse().unwrap_or(0))))),
    Function::new("toDecimal", &[Any], None, |a, _| long(i64::from_str_radix(&go::sprint(arg(a, 0))?, 8).unwrap_or(0))),
    Function::new("add1", &[Any], None, |a, _| long(whole(arg(a, 0)).wrapping_add(1))),
    Function::new("add", &[], Some(Any), |a, _| long(a.iter().map(whole).fold(0, i64::wrapping_add))),
    Function::new("sub", &[Any, Any], None, |a, _| long(whole(arg(a, 0)).wrapping_sub(whole(arg(a, 1))))),
    Function::new("mul", &[Any], Some(Any), |a, _| long(a.iter().map(whole).fold(1, i64::wrapping_mul))),
    Function::new("div", &[Any, Any], None, |a, _| match whole(arg(a, 1)) {
        0 => Err(error("division by zero")),
        by => long(whole(arg(a, 0)).wrapping_div(by)),
    }),
    Function::new("mod", &[Any, Any], None, |a, _| match whole(arg(a, 1)) {
        0 => Err(error("division by zero")),
        by => long(whole(arg(a, 0)).wrapping_rem(by)),
    }),
    Function::new("max", &[Any], Some(Any), |a, _| long(a.iter().map(whole).max().unwrap_or(0))),
    Function::new("biggest", &[Any], Some(Any), |a, _| long(a.iter().map(whole).max().unwrap_or(0))),
    Function::new("min", &[Any], Some(Any), |a, _| long(a.iter().map(whole).min().unwrap_or(0))),
    Function::new("maxf", &[Any], Some(Any), |a, _| real(a.iter().map(float).fold(f64::NEG_INFINITY, f64::max))),
    Function::new("minf", &[Any], Some(Any), |a, _| real(a.iter().map(float).fold(f64::INFINITY, f64::min))),
    Function::new("ceil", &[Any], None, |a, _| real(float(arg(a, 0)).ceil())),
    Function::new("floor", &[Any], None, |a, _| real(float(arg(a, 0)).floor())),
    Function::new("round", &[Any, Int], Some(Float), round),
    Function::new("seq", &[], Some(Int), seq),
];

#[expect(clippy::unnecessary_wraps, reason = "functions return this type")]
fn long(value: i64) -> Result<Value, Fault> {
    Ok(Value::new(Kind::Int64(value)))
}

#[expect(clippy::unnecessary_wraps, reason = "functions return this type")]
fn real(value: f64) -> Result<Value, Fault> {
    Ok(Value::new(Kind::Float(value)))
}

/// Converts a value to an integer; 0 if that is not possible.
pub(super) fn whole(value: &Value) -> i64 {
    match &value.kind {
        Kind::Text(text) => text.parse().unwrap_or(0),
        Kind::Int(value) | Kind::Int64(value) => *value,
        #[expect(clippy::cast_possible_truncation, reason = "Go truncates the fraction")]
        Kind::Float(value) => *value as i64,
        Kind::Bool(value) => i64::from(*value),
        _ => 0,
    }
}

/// Converts a value to a float; 0 if that is not possible.
fn float(value: &Value) -> f64 {
    match &value.kind {
        Kind::Text(text) => text.parse().unwrap_or(0.0),
        #[expect(clippy::cast_precision_loss, reason = "Go converts likewise")]
        Kind::Int(value) | Kind::Int64(value) => *value as f64,
        Kind::Float(value) => *value,
        Kind::Bool(value) => f64::from(u8::from(*value)),
        _ => 0.0,
    }
}

/// Rounds to a number of decimal places. The last argument is the fraction from which to round up, by default one half.
fn round(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let places = i32::try_from(int(arguments, 1)).unwrap_or(i32::MAX);
    let from = arguments.get(2).map_or(0.5, float);
    let power = 10_f64.powi(places);
    let digit = power * float(arg(arguments, 0));
    let rounded = if digit.fract() >= from { digit.ceil() } else { digit.floor() };
    real(rounded / power)
}

/// The integers of an inclusive range, separated by spaces.
fn seq(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let at = |at| int(arguments, at);
    let (start, step, end) = match arguments.len() {
        1 => (1, None, at(0)),
        2 => (at(0), None, at(1)),
        3 => (at(0), Some(at(1)), at(2)),
        _ => return Ok(Value::text("")),
    };
    let towards = if end < start { -1 } else { 1 };
    if end < start && step.is_some_and(|step| step > 0) {
        return Ok(Value::text(""));
    }
    let numbers = counted(start, end.saturating_add(towards), step.unwrap_or(towards), budget)?;
    paid(numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), budget)
}

/// The integers from `start` up or down to `end`, without `end`.
pub(super) fn counted(start: i64, end: i64, step: i64, budget: &mut Budget) -> Result<Vec<i64>, Fault> {
    let mut numbers = Vec::new();
    // A step of zero, or with the wrong sign, gives an empty list.
    if (end < start) != (step < 0) || step == 0 {
        return Ok(numbers);
    }
    let mut next = start;
    while if step < 0 { next > end } else { next < end } {
        budget.bytes(size_of::<Value>())?;
        numbers.push(next);
        let Some(following) = next.checked_add(step) else { break };
        next = following;
    }
    Ok(numbers)
}
