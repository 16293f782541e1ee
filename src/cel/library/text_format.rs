//! `format`: a text with placeholders.

use std::fmt::Write;

use super::arguments::{list, text};
use super::conversions::to_text;
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::{MapKey, Value};

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("format", ALWAYS, &["string.(list(dyn)) string"], format_text)];

/// The decimals of a number without a precision.
const PRECISION: usize = 6;
/// The maximum precision. A number of this library has fewer significant digits.
const MAX_PRECISION: usize = 1_000;
/// The maximum nesting of lists and maps in a formatted value.
const MAX_NESTING: usize = 100;

fn format_text(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (template, values) = (text(arguments, 0, budget)?, list(arguments, 1, budget)?);
    let (mut formatted, mut rest, mut next) = (String::new(), template, 0);
    while let Some((before, after)) = rest.split_once('%') {
        formatted.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            formatted.push('%');
            rest = after;
            continue;
        }
        let value = values.get(next).ok_or_else(|| Failure::error(format!("index {next} out of range")))?;
        next += 1;
        if after.is_empty() {
            return Err(Failure::error("unexpected end of string"));
        }
        let (precision, after) = precision(after)?;
        let mut chars = after.chars();
        let clause = chars.next().unwrap_or(' ');
        let part = format_value(clause, precision, &value, budget)?;
        budget.spend_text(part.len())?;
        formatted.push_str(&part);
        rest = chars.as_str();
    }
    formatted.push_str(rest);
    Ok(Value::text(formatted))
}

/// The precision at the start of a text, `.3`, and the rest.
fn precision(text: &str) -> Result<(usize, &str), Failure> {
    let Some(rest) = text.strip_prefix('.') else { return Ok((PRECISION, text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let wrong = || Failure::error("could not parse formatting clause: error while parsing precision");
    let (digits, rest) = end.and_then(|end| rest.split_at_checked(end)).ok_or_else(wrong)?;
    let precision: usize = digits.parse().map_err(|_| wrong())?;
    if precision > MAX_PRECISION {
        return Err(Failure::Limit);
    }
    Ok((precision, rest))
}

fn format_value(clause: char, precision: usize, value: &Value, budget: &mut Budget) -> Result<String, Failure> {
    let wrong = |what: &str| {
        Failure::error(format!(
            "error during formatting: {what} clause can only be used on other types than {}",
            value.type_name()
        ))
    };
    Ok(match (clause, value) {
        (_, Value::Unknown) => return Err(Failure::Unknown),
        ('s', value) => as_text(value, budget, 0)?,
        ('d', Value::Int(value)) => value.to_string(),
        ('d', Value::Uint(value)) => value.to_string(),
        ('d', _) => return Err(wrong("decimal")),
        ('f' | 'e', value) => {
            let number = match value {
                Value::Double(number) => *number,
                Value::String(text) if &**text == "NaN" => f64::NAN,
                Value::String(text) if &**text == "Infinity" => f64::INFINITY,
                Value::String(text) if &**text == "-Infinity" => f64::NEG_INFINITY,
                _ => return Err(wrong("fixed-point")),
            };
            localized(number, clause, precision)
        }
        ('b', Value::Int(value)) => signed(*value, &format!("{:b}", value.unsigned_abs())),
        ('b', Value::Uint(value)) => format!("{value:b}"),
        ('b', Value::Bool(value)) => u8::from(*value).to_string(),
        ('b', _) => return Err(wrong("binary")),
        ('o', Value::Int(value)) => signed(*value, &format!("{:o}", value.unsigned_abs())),
        ('o', Value::Uint(value)) => format!("{value:o}"),
        ('o', _) => return Err(wrong("octal")),
        ('x' | 'X', value) => {
            let text = match value {
                Value::Int(value) => signed(*value, &format!("{:x}", value.unsigned_abs())),
                Value::Uint(value) => format!("{value:x}"),
                Value::String(text) => hex(text.as_bytes()),
                Value::Bytes(bytes) => hex(bytes),
                _ => return Err(wrong("hex")),
            };
            if clause == 'X' { text.to_uppercase() } else { text }
        }
        _ => {
            let message = format!("could not parse formatting clause: unrecognized formatting clause \"{clause}\"");
            return Err(Failure::error(message));
        }
    })
}

fn signed(value: i64, digits: &str) -> String {
    if value < 0 { format!("-{digits}") } else { digits.into() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A number in the American notation: with commas, and with an exponent as a power of ten.
fn localized(number: f64, clause: char, precision: usize) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "∞".into() } else { "-∞".into() };
    }
    if clause == 'e' {
        let text = format!("{number:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { "⁻" } else { "" };
        let raised: String = format!("{:02}", exponent.abs()).chars().map(superscript).collect();
        return format!("{digits}\u{202f}×\u{202f}10{sign}{raised}");
    }
    let text = format!("{number:.precision$}");
    let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}

fn superscript(digit: char) -> char {
    "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10).unwrap_or(0) as usize).unwrap_or(digit)
}

/// The text of a value; lists and maps as CEL writes them.
fn as_text(value: &Value, budget: &mut Budget, depth: usize) -> Result<String, Failure> {
    budget.spend(1)?;
    if depth > MAX_NESTING {
        return Err(Failure::Limit);
    }
    Ok(match value {
        Value::Null => "null".into(),
        Value::List(list) => {
            let parts: Result<Vec<String>, Failure> =
                list.iter().map(|item| nested(&item, budget, depth + 1)).collect();
            format!("[{}]", parts?.join(", "))
        }
        Value::Map(map) => {
            let mut pairs = Vec::new();
            for (key, value) in map.pairs() {
                let key = match &key {
                    MapKey::String(text) => format!("{text:?}"),
                    other => to_text(&other.to_value(), budget)?,
                };
                pairs.push((key, nested(&value, budget, depth + 1)?));
            }
            pairs.sort();
            let pairs: Vec<String> = pairs.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::Ip(_) | Value::Cidr(_) => {
            let name = value.type_name();
            let message = format!(
                "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given {name}"
            );
            return Err(Failure::error(message));
        }
        value => to_text(value, budget)?,
    })
}

/// The text of a value in a list or in a map, in quotes if CEL writes it with quotes.
fn nested(value: &Value, budget: &mut Budget, depth: usize) -> Result<String, Failure> {
    Ok(match value {
        Value::String(text) => {
            budget.spend_text(text.len())?;
            format!("{text:?}")
        }
        Value::Bytes(_) => format!("b{:?}", as_text(value, budget, depth)?),
        Value::Double(number) if number.is_finite() => format!("{number:.PRECISION$}"),
        Value::Double(_) => format!("{:?}", as_text(value, budget, depth)?),
        Value::Timestamp(time) => format!("timestamp(\"{time}\")"),
        Value::Duration(duration) => format!("duration(\"{duration}\")"),
        value => as_text(value, budget, depth)?,
    })
}
