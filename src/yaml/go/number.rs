//! Numbers, booleans and null as Go prints them after a conversion to JSON and back.

use std::fmt::Write as _;

use crate::yaml::scalar::resolve::Scalar;

/// Writes a scalar that is not a string.
pub(super) fn write(out: &mut String, scalar: Scalar<'_>) {
    match scalar {
        Scalar::Null => out.push_str("null"),
        Scalar::Bool(true) => out.push_str("true"),
        Scalar::Bool(false) => out.push_str("false"),
        Scalar::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Scalar::Float(value) => float(out, value),
        Scalar::String(text) => out.push_str(text),
    }
}

fn float(out: &mut String, value: f64) {
    if !value.is_finite() {
        let name = if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        };
        return out.push_str(name);
    }
    if value == 0.0 {
        return out.push('0');
    }
    // Below this limit, Go's JSON contains all digits, and a number without a point is read again as an integer.
    if value.fract() == 0.0 && value.abs() < 1e21 {
        let digits = value.to_string();
        if digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok() {
            return out.push_str(&digits);
        }
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let _ = match exponent.parse::<i32>().unwrap_or(0) {
        -4..6 => write!(out, "{value}"),
        exponent => write!(out, "{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    };
}
