//! `format`: a text with placeholders.

use std::fmt::{Display, Write};

use super::arguments::{list, text};
use super::conversions::to_text;
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::types::Type;
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
    let mut formatted = String::new();
    interpolate(template, &mut formatted, &mut |index, clause| {
        let value = values.get(index).ok_or_else(|| out_of_range(index))?;
        let (letter, precision) = clause?;
        let part = format_value(letter, precision, &value, budget)?;
        budget.spend_text(part.len())?;
        Ok(part)
    })?;
    Ok(Value::text(formatted))
}

/// Checks a literal template with the types of its literal list, as the API server does when it compiles an expression.
pub(in crate::cel) fn check_format(template: &str, types: &[Type]) -> Result<(), String> {
    let mut count = 0;
    let checked = interpolate(template, &mut String::new(), &mut |index, clause| {
        count = index + 1;
        let actual = types.get(index).ok_or_else(|| out_of_range(index))?;
        let (letter, _) = clause?;
        let wrong = wrong_clause(letter)?;
        if accepts(letter, actual) { Ok(String::new()) } else { Err(given(wrong, actual)) }
    });
    match checked {
        Err(Failure::Error(message)) => Err(message),
        Ok(()) if types.len() > count => {
            Err(format!("too many arguments supplied to string.format (expected {count}, got {})", types.len()))
        }
        _ => Ok(()),
    }
}

/// The letter and the precision of a placeholder.
type Clause = Result<(char, usize), Failure>;

/// Appends a template whose placeholders are replaced by the texts of a function.
fn interpolate(
    template: &str,
    formatted: &mut String,
    replace: &mut dyn FnMut(usize, Clause) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let (mut rest, mut next) = (template, 0);
    while let Some((before, after)) = rest.split_once('%') {
        formatted.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            formatted.push('%');
            rest = after;
            continue;
        }
        let clause = if after.is_empty() {
            Err(Failure::error("unexpected end of string"))
        } else {
            precision(after).map(|(precision, after)| {
                let mut chars = after.chars();
                let letter = chars.next().unwrap_or(' ');
                rest = chars.as_str();
                (letter, precision)
            })
        };
        formatted.push_str(&replace(next, clause)?);
        next += 1;
    }
    formatted.push_str(rest);
    Ok(())
}

fn out_of_range(index: usize) -> Failure {
    Failure::error(format!("index {index} out of range"))
}

/// The message for a value that a clause does not accept.
fn wrong_clause(letter: char) -> Result<&'static str, Failure> {
    Ok(match letter {
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
             timestamps"
        }
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        'o' => "octal clause can only be used on integers",
        _ => {
            let message = format!("could not parse formatting clause: unrecognized formatting clause \"{letter}\"");
            return Err(Failure::error(message));
        }
    })
}

fn given(wrong: &str, actual: impl Display) -> Failure {
    Failure::error(format!("error during formatting: {wrong}, was given {actual}"))
}

/// Returns whether a clause accepts values of a type.
fn accepts(letter: char, actual: &Type) -> bool {
    match (letter, actual) {
        (_, Type::Dyn | Type::Parameter(_))
        | ('d' | 'b' | 'x' | 'X' | 'o', Type::Int | Type::Uint)
        | ('f' | 'e', Type::Double | Type::String)
        | ('b', Type::Bool)
        | ('x' | 'X', Type::String | Type::Bytes) => true,
        ('s', Type::List(item, _)) => accepts(letter, item),
        ('s', Type::Map(key, value)) => accepts(letter, key) && accepts(letter, value),
        ('s', actual) => !matches!(actual, Type::Opaque(_) | Type::Optional(_) | Type::Object(_)),
        _ => false,
    }
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
    let wrong = given(wrong_clause(clause)?, value.type_name());
    Ok(match (clause, value) {
        (_, Value::Unknown) => return Err(Failure::Unknown),
        ('s', value) => as_text(value, budget, 0)?,
        ('d', Value::Int(value)) => value.to_string(),
        ('d', Value::Uint(value)) => value.to_string(),
        ('f' | 'e', value) => {
            let number = match value {
                Value::Double(number) => *number,
                Value::String(text) if &**text == "NaN" => f64::NAN,
                Value::String(text) if &**text == "Infinity" => f64::INFINITY,
                Value::String(text) if &**text == "-Infinity" => f64::NEG_INFINITY,
                _ => return Err(wrong),
            };
            localized(number, clause, precision)
        }
        ('b', Value::Int(value)) => signed(*value, &format!("{:b}", value.unsigned_abs())),
        ('b', Value::Uint(value)) => format!("{value:b}"),
        ('b', Value::Bool(value)) => u8::from(*value).to_string(),
        ('o', Value::Int(value)) => signed(*value, &format!("{:o}", value.unsigned_abs())),
        ('o', Value::Uint(value)) => format!("{value:o}"),
        ('x' | 'X', value) => {
            let text = match value {
                Value::Int(value) => signed(*value, &format!("{:x}", value.unsigned_abs())),
                Value::Uint(value) => format!("{value:x}"),
                Value::String(text) => hex(text.as_bytes()),
                Value::Bytes(bytes) => hex(bytes),
                _ => return Err(wrong),
            };
            if clause == 'X' { text.to_uppercase() } else { text }
        }
        _ => return Err(wrong),
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
        // The API server ignores the precision here.
        let text = format!("{number:.PRECISION$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { "⁻" } else { "" };
        let raised: String = format!("{:02}", exponent.abs()).chars().map(superscript).collect();
        return format!("{digits}×10{sign}{raised}");
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
