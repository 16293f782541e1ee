//! The type and value of a plain scalar: `0775` is 509 for Kubernetes and 775 in YAML 1.2.

use crate::yaml::tree::node::{Node, Style, Value};

/// The typed value of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// An empty value, `~` or `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Any other number, including the infinities and `.nan`.
    Float(f64),
    /// Any other text.
    String(&'a str),
}

/// The YAML library or schema that resolves plain scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// `sigs.k8s.io/yaml`, with which kubectl and the controllers convert YAML to JSON: YAML 1.1 as go-yaml reads it.
    Kubernetes,
    /// kustomize, which builds every object that Flux applies. It differs from Kubernetes: `yes`, `no`, `on` and `off`
    /// are strings, keys keep their text, and a date becomes a time (see [`to_json`](crate::yaml::to_json)).
    Kustomize,
    /// The core schema of YAML 1.2.
    Core,
}

impl Node {
    /// The value of this scalar for a reader; `None` for collections.
    ///
    /// Every reader resolves a scalar in a style other than plain to a string.
    pub fn resolve(&self, reader: Reader) -> Option<Scalar<'_>> {
        match &self.value {
            Value::Scalar(text, Style::Plain) => Some(resolve_plain(text, reader)),
            Value::Scalar(text, _) => Some(Scalar::String(text)),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }
}

/// The value of a text in plain style.
pub(crate) fn resolve_plain(text: &str, reader: Reader) -> Scalar<'_> {
    match reader {
        Reader::Kubernetes => yaml_1_1_bool(text).map_or_else(|| go_yaml(text), Scalar::Bool),
        Reader::Kustomize => go_yaml(text),
        Reader::Core => core_schema(text),
    }
}

/// The keywords that all readers share.
fn keyword(text: &str) -> Option<Scalar<'static>> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        _ => return None,
    })
}

fn core_schema(text: &str) -> Scalar<'_> {
    if let Some(scalar) = keyword(text) {
        return scalar;
    }
    if !may_be_number(text) {
        return Scalar::String(text);
    }
    let radix = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix)?;
        digits.bytes().all(|byte| char::from(byte).is_digit(radix)).then(|| i128::from_str_radix(digits, radix).ok())?
    };
    let (_, unsigned) = split_sign(text);
    let decimal = || {
        let all_digits = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| text.parse().ok())?
    };
    if let Some(int) = radix("0o", 8).or_else(|| radix("0x", 16)).or_else(decimal) {
        return Scalar::Int(int);
    }
    if is_decimal_float(text)
        && let Ok(float) = text.parse()
    {
        return Scalar::Float(float);
    }
    Scalar::String(text)
}

/// The booleans of YAML 1.1 other than `true` and `false`.
fn yaml_1_1_bool(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn go_yaml(text: &str) -> Scalar<'_> {
    if let Some(scalar) = keyword(text) {
        return scalar;
    }
    if !may_be_number(text) {
        return Scalar::String(text);
    }
    // go-yaml checks the first character, and removes every underscore of a possible number.
    if text.starts_with('.') {
        return fraction(text).map_or(Scalar::String(text), Scalar::Float);
    }
    let plain = text.replace('_', "");
    // Go also accepts a sign after `0b`, by accident.
    let signed = || plain.strip_prefix("0b").filter(|rest| rest.starts_with(['+', '-']));
    let binary = |digits: &str| i128::from(i64::from_str_radix(digits, 2).ok()?).into();
    if let Some(int) = go_int(&plain).or_else(|| signed().and_then(binary)) {
        return Scalar::Int(int);
    }
    let float = is_decimal_float(&plain).then(|| finite(&plain)).flatten();
    float.map_or(Scalar::String(text), Scalar::Float)
}

/// Returns whether a text starts like a number and has only characters of numbers.
///
/// The check rejects almost every text early.
fn may_be_number(text: &str) -> bool {
    let begins = |first: &u8| matches!(first, b'+' | b'-' | b'.' | b'0'..=b'9');
    let goes_on =
        |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'+' | b'-' | b'.' | b'_' | b'x' | b'X' | b'o' | b'O');
    text.as_bytes().first().is_some_and(begins) && text.as_bytes().iter().all(goes_on)
}

/// An integer in Go's literal syntax: `0x1F`, `0b11`, `0o17`, and `017` for 15; within 64 bits.
fn go_int(text: &str) -> Option<i128> {
    let (negative, digits) = split_sign(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (digits.get(2..)?, 16),
        [b'0', b'b' | b'B', ..] => (digits.get(2..)?, 2),
        [b'0', b'o' | b'O', ..] => (digits.get(2..)?, 8),
        _ if digits.len() > 1 && digits.starts_with('0') => (digits.get(1..)?, 8),
        _ => (digits, 10),
    };
    if !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -value } else { value };
    // With a sign, even a plus, Go parses a signed integer.
    let most = if split_sign(text).1.len() == text.len() { i128::from(u64::MAX) } else { i128::from(i64::MAX) };
    (i128::from(i64::MIN)..=most).contains(&value).then_some(value)
}

fn split_sign(text: &str) -> (bool, &str) {
    match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => (false, text),
    }
}

/// A number that Go's `ParseFloat` accepts. The function rejects a number out of range.
fn finite(text: &str) -> Option<f64> {
    let digits = is_decimal_float(text).then_some(text)?;
    digits.parse().ok().filter(|float: &f64| float.is_finite())
}

/// A number that starts with its decimal point. In such a number, Go allows underscores only between digits.
fn fraction(text: &str) -> Option<f64> {
    let between = |at: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
        digit(at.checked_sub(1)) && digit(Some(at + 1))
    };
    text.match_indices('_').all(|(at, _)| between(at)).then(|| finite(&text.replace('_', "")))?
}

/// Returns whether a text is a decimal number, with or without point and exponent: `1.5`, `.5`, `5.`, `1e3`.
fn is_decimal_float(text: &str) -> bool {
    let (_, unsigned) = split_sign(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at).unwrap_or(""), unsigned.get(at + 1..)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_is = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_is = exponent.is_none_or(|text| {
        let (_, power) = split_sign(text);
        !power.is_empty() && digits(power)
    });
    mantissa_is && exponent_is
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_differ_where_yaml_1_1_does() {
        let both = |text| (resolve_plain(text, Reader::Kubernetes), resolve_plain(text, Reader::Core));
        assert_eq!(both("0775"), (Scalar::Int(509), Scalar::Int(775)));
        assert_eq!(both("yes"), (Scalar::Bool(true), Scalar::String("yes")));
        assert_eq!(both("1_000"), (Scalar::Int(1000), Scalar::String("1_000")));
        assert_eq!(both("089"), (Scalar::Float(89.0), Scalar::Int(89)));
        assert_eq!(both("1e400").0, Scalar::String("1e400"));
        assert_eq!(both("1:20"), (Scalar::String("1:20"), Scalar::String("1:20")));
    }
}
