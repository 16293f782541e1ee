//! Conversions between types.

use super::function::{ALWAYS, Function};
use super::numbers::{overflow, time_overflow, uint_overflow};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::notation::{Duration, Timestamp};
use crate::cel::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("type", ALWAYS, &["(A) type"], |arguments, _| match arguments {
        [value] => Ok(Value::Type(value.type_name().into())),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("dyn", ALWAYS, &["(A) dyn"], identity),
    Function::new("bool", ALWAYS, &["(bool) bool", "(string) bool"], |arguments, _| match arguments {
        [Value::String(text)] => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => Err(conversion(text, "bool")),
        },
        [Value::Bool(_)] => identity(arguments, &mut Budget::default()),
        _ => Err(Failure::no_overload()),
    }),
    Function::new("bytes", ALWAYS, &["(bytes) bytes", "(string) bytes"], |arguments, budget| match arguments {
        [Value::String(text)] => {
            budget.spend_text(text.len())?;
            Ok(Value::Bytes(text.as_bytes().into()))
        }
        [Value::Bytes(_)] => identity(arguments, budget),
        _ => Err(Failure::no_overload()),
    }),
    Function::new(
        "double",
        ALWAYS,
        &["(double) double", "(int) double", "(string) double", "(uint) double"],
        to_double,
    ),
    Function::new(
        "int",
        ALWAYS,
        &["(int) int", "(double) int", "(duration) int", "(string) int", "(timestamp) int", "(uint) int"],
        to_int,
    ),
    Function::new("uint", ALWAYS, &["(uint) uint", "(double) uint", "(int) uint", "(string) uint"], to_uint),
    Function::new(
        "duration",
        ALWAYS,
        &["(duration) duration", "(int) duration", "(string) duration"],
        |arguments, budget| match arguments {
            [Value::Duration(_)] => identity(arguments, budget),
            [Value::Int(value)] => Ok(Value::Duration(Duration(*value))),
            [Value::String(text)] => {
                Duration::parse(text).map(Value::Duration).ok_or_else(|| conversion(text, "duration"))
            }
            _ => Err(Failure::no_overload()),
        },
    ),
    Function::new(
        "timestamp",
        ALWAYS,
        &["(timestamp) timestamp", "(int) timestamp", "(string) timestamp"],
        |arguments, budget| match arguments {
            [Value::Timestamp(_)] => identity(arguments, budget),
            [Value::Int(value)] => Timestamp::from_seconds(*value).map(Value::Timestamp).ok_or_else(time_overflow),
            [Value::String(text)] => {
                Timestamp::parse(text).map(Value::Timestamp).ok_or_else(|| conversion(text, "timestamp"))
            }
            _ => Err(Failure::no_overload()),
        },
    ),
    Function::new(
        "string",
        ALWAYS,
        &[
            "(string) string",
            "(bool) string",
            "(bytes) string",
            "(double) string",
            "(duration) string",
            "(int) string",
            "(timestamp) string",
            "(uint) string",
            "(ip) string",
            "(cidr) string",
        ],
        |arguments, budget| match arguments {
            [value] => to_text(value, budget).map(Value::text),
            _ => Err(Failure::no_overload()),
        },
    ),
];

fn identity(arguments: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    arguments.first().cloned().ok_or_else(Failure::no_overload)
}

fn conversion(text: &str, kind: &str) -> Failure {
    let text: String = text.chars().take(100).collect();
    Failure::error(format!("type conversion error: {text:?} is not a {kind}"))
}

#[expect(clippy::cast_precision_loss, reason = "the API server converts in the same way")]
fn to_double(arguments: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    match arguments {
        [Value::Double(value)] => Ok(Value::Double(*value)),
        [Value::Int(value)] => Ok(Value::Double(*value as f64)),
        [Value::Uint(value)] => Ok(Value::Double(*value as f64)),
        [Value::String(text)] => parse_double(text).map(Value::Double).ok_or_else(|| conversion(text, "double")),
        _ => Err(Failure::no_overload()),
    }
}

/// Reads a number as Go's `ParseFloat` does: with an exponent or infinite, but not out of range.
fn parse_double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let digits = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_separated = text.bytes().enumerate().filter(|(_, byte)| *byte == b'_').all(|(at, _)| {
        let bytes = text.as_bytes();
        at > 0 && digits(bytes.get(at - 1)) && digits(bytes.get(at + 1))
    });
    if let Some(hexadecimal) = unsigned.strip_prefix("0x") {
        let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
        return parse_hexadecimal(hexadecimal).map(|value| sign * value).filter(|value| value.is_finite());
    }
    let value = if is_separated { text.replace('_', "") } else { text.into() }.parse::<f64>().ok()?;
    let is_named = matches!(&*unsigned, "inf" | "infinity" | "nan") && (unsigned != "nan" || text.len() == 3);
    (is_named || value.is_finite()).then_some(value)
}

/// Reads the digits and the binary exponent of a hexadecimal number, such as `1.8p4`.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once('p')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let mut digits = whole.chars().chain(fraction.chars()).map(|digit| digit.to_digit(16));
    let value = digits.try_fold(0.0, |value, digit| Some(value * 16.0 + f64::from(digit?)))?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    Some(value * 2_f64.powi(exponent))
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_int(arguments: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    /// The absolute value of the smallest integer.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match arguments {
        [Value::Int(value)] => Ok(Value::Int(*value)),
        [Value::Uint(value)] => i64::try_from(*value).map(Value::Int).map_err(|_| overflow()),
        [Value::Double(value)] if *value > -LIMIT && *value < LIMIT => Ok(Value::Int(*value as i64)),
        [Value::Double(_)] => Err(overflow()),
        [Value::Duration(value)] => Ok(Value::Int(value.0)),
        [Value::Timestamp(value)] => Ok(Value::Int(value.seconds())),
        [Value::String(text)] => text.parse().map(Value::Int).map_err(|_| conversion(text, "int")),
        _ => Err(Failure::no_overload()),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn to_uint(arguments: &[Value], _: &mut Budget) -> Result<Value, Failure> {
    match arguments {
        [Value::Uint(value)] => Ok(Value::Uint(*value)),
        [Value::Int(value)] => u64::try_from(*value).map(Value::Uint).map_err(|_| uint_overflow()),
        [Value::Double(value)] if *value >= 0.0 && *value < 18_446_744_073_709_551_616.0 => {
            Ok(Value::Uint(*value as u64))
        }
        [Value::Double(_)] => Err(uint_overflow()),
        [Value::String(text)] if !text.starts_with('+') => {
            text.parse().map(Value::Uint).map_err(|_| conversion(text, "uint"))
        }
        [Value::String(text)] => Err(conversion(text, "uint")),
        _ => Err(Failure::no_overload()),
    }
}

/// The text of a value.
pub(super) fn to_text(value: &Value, budget: &mut Budget) -> Result<String, Failure> {
    Ok(match value {
        Value::String(text) => {
            budget.spend_text(text.len())?;
            text.to_string()
        }
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => double_text(*value),
        Value::Bytes(bytes) => {
            budget.spend_text(bytes.len())?;
            let text = std::str::from_utf8(bytes).map(str::to_owned);
            text.map_err(|_| Failure::error("invalid UTF-8 in bytes, cannot convert to string"))?
        }
        Value::Duration(value) => value.to_string(),
        Value::Timestamp(value) => value.to_string(),
        Value::Ip(address) => address.to_string(),
        Value::Cidr(network) => network.to_string(),
        Value::Type(name) => name.to_string(),
        Value::Unknown => return Err(Failure::Unknown),
        _ => return Err(Failure::no_overload()),
    })
}

/// The text of a number as Go's `%g` prints it: with an exponent from a million, and below a ten-thousandth.
fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}
