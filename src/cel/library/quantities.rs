//! Quantities. Versions share the comparisons.

use std::cmp::Ordering;

use super::arguments::text;
use super::function::{ALWAYS, Function};
use crate::cel::failure::Failure;
use crate::cel::notation::Amount;
use crate::cel::value::Value;

const TEST: &[&str] = &["quantity.(quantity) bool", "semver.(semver) bool"];
const ARITHMETIC: &[&str] = &["quantity.(quantity) quantity", "quantity.(int) quantity"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("quantity", ALWAYS, &["(string) quantity"], |arguments, budget| {
        let amount = Amount::parse(text(arguments, 0, budget)?);
        let wrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
        amount.map(Value::Quantity).ok_or_else(|| Failure::error(wrong))
    }),
    Function::new("isQuantity", ALWAYS, &["(string) bool"], |arguments, budget| {
        Ok(Value::Bool(Amount::parse(text(arguments, 0, budget)?).is_some()))
    }),
    Function::new("sign", ALWAYS, &["(quantity) int"], |arguments, _| {
        amount(arguments, 0).map(|amount| Value::Int(amount.quantity.nanos().signum() as i64))
    }),
    Function::new("isGreaterThan", ALWAYS, TEST, |arguments, _| {
        order(arguments).map(|order| Value::Bool(order.is_gt()))
    }),
    Function::new("isLessThan", ALWAYS, TEST, |arguments, _| order(arguments).map(|order| Value::Bool(order.is_lt()))),
    Function::new("compareTo", ALWAYS, &["quantity.(quantity) int", "semver.(semver) int"], |arguments, _| {
        order(arguments).map(|order| Value::Int(order as i64))
    }),
    Function::new("asApproximateFloat", ALWAYS, &["quantity.() double"], |arguments, _| {
        amount(arguments, 0).map(|amount| Value::Double(amount.as_double()))
    }),
    Function::new("asInteger", ALWAYS, &["quantity.() int"], |arguments, _| {
        let value = amount(arguments, 0)?.as_int();
        value.map(Value::Int).ok_or_else(|| Failure::error("cannot convert value to integer"))
    }),
    Function::new("isInteger", ALWAYS, &["quantity.() bool"], |arguments, _| {
        amount(arguments, 0).map(|amount| Value::Bool(amount.as_int().is_some()))
    }),
    Function::new("add", ALWAYS, ARITHMETIC, |arguments, _| {
        Ok(Value::Quantity(amount(arguments, 0)?.plus(amount(arguments, 1)?)))
    }),
    Function::new("sub", ALWAYS, ARITHMETIC, |arguments, _| {
        Ok(Value::Quantity(amount(arguments, 0)?.minus(amount(arguments, 1)?)))
    }),
];

/// The quantity at a position of the arguments, which may be an integer if it is not the receiver.
fn amount(arguments: &[Value], at: usize) -> Result<Amount, Failure> {
    match arguments.get(at) {
        Some(Value::Quantity(amount)) => Ok(*amount),
        Some(Value::Int(value)) if at > 0 => Ok(Amount::from_int(*value)),
        _ => Err(Failure::no_overload()),
    }
}

fn order(arguments: &[Value]) -> Result<Ordering, Failure> {
    match arguments {
        [Value::Quantity(one), Value::Quantity(other)] => Ok(one.quantity.cmp(&other.quantity)),
        [Value::Semver(one), Value::Semver(other)] => Ok(one.cmp(other)),
        _ => Err(Failure::no_overload()),
    }
}
