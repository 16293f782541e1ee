//! Arithmetic. An overflow is an error.

use super::function::{ALWAYS, Function};
use crate::cel::failure::Failure;
use crate::cel::notation::Duration;
use crate::cel::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("_*_", ALWAYS, NUMBERS, |arguments, _| match arguments {
        [Value::Int(one), Value::Int(other)] => one.checked_mul(*other).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(one), Value::Uint(other)] => one.checked_mul(*other).map(Value::Uint).ok_or_else(uint_overflow),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one * other)),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("_/_", ALWAYS, NUMBERS, |arguments, _| match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Failure::error("division by zero")),
        [Value::Int(one), Value::Int(other)] => one.checked_div(*other).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(one), Value::Uint(other)] => Ok(Value::Uint(one / other)),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one / other)),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("_%_", ALWAYS, &["(int, int) int", "(uint, uint) uint"], |arguments, _| match arguments {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Failure::error("modulus by zero")),
        [Value::Int(one), Value::Int(other)] => one.checked_rem(*other).map(Value::Int).ok_or_else(overflow),
        [Value::Uint(one), Value::Uint(other)] => Ok(Value::Uint(one % other)),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("-_", ALWAYS, &["(double) double", "(int) int"], |arguments, _| match arguments {
        [Value::Int(value)] => value.checked_neg().map(Value::Int).ok_or_else(overflow),
        [Value::Double(value)] => Ok(Value::Double(-value)),
        [Value::Duration(value)] => {
            value.0.checked_neg().map(|value| Value::Duration(Duration(value))).ok_or_else(overflow)
        }
        _ => Err(Failure::no_overload()),
    }),
];

const NUMBERS: &[&str] = &["(double, double) double", "(int, int) int", "(uint, uint) uint"];

pub(super) fn add(one: &Value, other: &Value) -> Result<Value, Failure> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one.checked_add(*other).map(Value::Int).ok_or_else(overflow),
        (Value::Uint(one), Value::Uint(other)) => one.checked_add(*other).map(Value::Uint).ok_or_else(uint_overflow),
        (Value::Double(one), Value::Double(other)) => Ok(Value::Double(one + other)),
        _ => Err(Failure::no_overload()),
    }
}

pub(super) fn subtract(one: &Value, other: &Value) -> Result<Value, Failure> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one.checked_sub(*other).map(Value::Int).ok_or_else(overflow),
        (Value::Uint(one), Value::Uint(other)) => one.checked_sub(*other).map(Value::Uint).ok_or_else(uint_overflow),
        (Value::Double(one), Value::Double(other)) => Ok(Value::Double(one - other)),
        _ => Err(Failure::no_overload()),
    }
}

pub(super) fn overflow() -> Failure {
    Failure::error("integer overflow")
}

pub(super) fn uint_overflow() -> Failure {
    Failure::error("unsigned integer overflow")
}

pub(super) fn time_overflow() -> Failure {
    Failure::error("timestamp overflow")
}
