//! Go's formats of values: the verbs of `fmt`, and `encoding/json`.

use std::fmt::Write;

use super::fault::Fault;
use super::literal;
use super::output::UNKNOWN;
use super::value::{Kind, Value};

/// The maximum depth of a printed value. Functions can add a mapping to itself.
const MAX_DEPTH: usize = 100;

/// Formats a value as an action prints it.
pub(super) fn print(value: &Value) -> Result<String, Fault> {
    match &value.kind {
        Kind::Nil => Ok("<no value>".into()),
        _ => sprint(value),
    }
}

/// Formats one value with `fmt.Sprint`.
pub(super) fn sprint(value: &Value) -> Result<String, Fault> {
    let mut text = String::new();
    write(value, &mut text, 0)?;
    Ok(text)
}

fn too_deep() -> Fault {
    Fault::bound(0, "a value is nested too deeply")
}

/// The mark of an unknown value in a text.
fn unknown(name: &str) -> String {
    format!("{}{name}{}", UNKNOWN.0, UNKNOWN.1)
}

fn write(value: &Value, to: &mut String, depth: usize) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    match &value.kind {
        Kind::Nil => to.push_str("<nil>"),
        Kind::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
        Kind::Int(value) | Kind::Int64(value) => to.push_str(&value.to_string()),
        Kind::Float(value) => to.push_str(&float(*value)),
        Kind::Text(text) => to.push_str(text),
        Kind::Unknown(name) => to.push_str(&unknown(name)),
        Kind::List(items, _) => {
            to.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    to.push(' ');
                }
                write(item, to, depth + 1)?;
            }
            to.push(']');
        }
        Kind::Map(entries) | Kind::Texts(entries) => {
            to.push_str("map[");
            for (index, (key, item)) in entries.borrow().iter().enumerate() {
                let _ = write!(to, "{}{key}:", if index > 0 { " " } else { "" });
                write(item, to, depth + 1)?;
            }
            to.push(']');
        }
    }
    Ok(())
}

/// Formats a float in the shortest form, with an exponent if the exponent is below -4 or above 5.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..=5).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{value}")
}

/// Formats a value with `encoding/json`. `html` escapes `<`, `>` and `&`; `indent` adds line breaks.
pub(super) fn json(value: &Value, html: bool, indent: Option<&str>) -> Result<String, Fault> {
    let mut text = String::new();
    Json { html, indent }.write(value, &mut text, 0)?;
    Ok(text)
}

struct Json<'a> {
    html: bool,
    indent: Option<&'a str>,
}

impl Json<'_> {
    fn write(&self, value: &Value, to: &mut String, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        match &value.kind {
            Kind::Nil => to.push_str("null"),
            Kind::Bool(value) => to.push_str(if *value { "true" } else { "false" }),
            Kind::Int(value) | Kind::Int64(value) => to.push_str(&value.to_string()),
            Kind::Float(value) => {
                if !value.is_finite() {
                    return Err(Fault::error(0, "JSON does not support this number"));
                }
                to.push_str(&json_float(*value));
            }
            Kind::Text(text) => self.text(text, to),
            Kind::Unknown(name) => self.text(&unknown(name), to),
            Kind::List(items, _) => {
                self.all(items.iter().map(|item| (None, item)), ('[', ']'), to, depth)?;
            }
            Kind::Map(entries) | Kind::Texts(entries) => {
                let entries = entries.borrow();
                self.all(entries.iter().map(|(key, item)| (Some(&**key), item)), ('{', '}'), to, depth)?;
            }
        }
        Ok(())
    }

    fn all<'v>(
        &self,
        items: impl Iterator<Item = (Option<&'v str>, &'v Value)>,
        (open, close): (char, char),
        to: &mut String,
        depth: usize,
    ) -> Result<(), Fault> {
        let line = |to: &mut String, depth: usize| {
            if let Some(indent) = self.indent {
                to.push('\n');
                to.push_str(&indent.repeat(depth));
            }
        };
        to.push(open);
        let mut any = false;
        for (key, item) in items {
            if any {
                to.push(',');
            }
            any = true;
            line(to, depth + 1);
            if let Some(key) = key {
                self.text(key, to);
                to.push_str(if self.indent.is_some() { ": " } else { ":" });
            }
            self.write(item, to, depth + 1)?;
        }
        if any {
            line(to, depth);
        }
        to.push(close);
        Ok(())
    }

    fn text(&self, text: &str, to: &mut String) {
        to.push('"');
        for character in text.chars() {
            match character {
                '"' => to.push_str("\\\""),
                '\\' => to.push_str("\\\\"),
                '\n' => to.push_str("\\n"),
                '\r' => to.push_str("\\r"),
                '\t' => to.push_str("\\t"),
                '\u{8}' => to.push_str("\\b"),
                '\u{c}' => to.push_str("\\f"),
                '<' | '>' | '&' if self.html => {
                    let _ = write!(to, "\\u{:04x}", u32::from(character));
                }
                '\u{0}'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(to, "\\u{:04x}", u32::from(character));
                }
                _ => to.push(character),
            }
        }
        to.push('"');
    }
}

/// Formats a float as JSON: with an exponent below 1e-6 and from 1e21 on.
pub(super) fn json_float(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    match exponent.strip_prefix('-') {
        // Go removes a leading zero only from a negative exponent.
        Some(digits) => format!("{mantissa}e-{digits:0>2}").replace("e-0", "e-"),
        None => format!("{mantissa}e+{exponent:0>2}"),
    }
}

/// Formats several values with `fmt.Sprint`: a space separates two values if neither is a string.
pub(super) fn sprint_all(values: &[Value]) -> Result<String, Fault> {
    let mut text = String::new();
    let mut before: Option<&Value> = None;
    for value in values {
        let is_text = |value: &Value| matches!(value.kind, Kind::Text(_));
        if before.is_some_and(|before| !is_text(before) && !is_text(value)) {
            text.push(' ');
        }
        write(value, &mut text, 0)?;
        before = Some(value);
    }
    Ok(text)
}

/// Formats values with `fmt.Sprintf`, with the verbs that templates use.
pub(super) fn sprintf(format: &str, values: &[Value]) -> Result<String, Fault> {
    let mut text = String::new();
    let mut values = values.iter();
    let mut rest = format.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let (mut flags, mut width, mut precision) = (String::new(), String::new(), None);
        while let Some(flag) = rest.next_if(|c| matches!(c, '+' | '-' | '#' | ' ' | '0')) {
            flags.push(flag);
        }
        while let Some(digit) = rest.next_if(char::is_ascii_digit) {
            width.push(digit);
        }
        if rest.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = Some(digits.parse::<usize>().unwrap_or(0));
        }
        let Some(verb) = rest.next() else {
            text.push_str("%!(NOVERB)");
            break;
        };
        if verb == '%' {
            text.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            let _ = write!(text, "%!{verb}(MISSING)");
            continue;
        };
        let width = width.parse::<usize>().unwrap_or(0);
        if width > 10_000 || precision.is_some_and(|precision| precision > 10_000) {
            return Err(Fault::limit(0, "a width or precision above 10000 is not supported"));
        }
        let written = verbed(verb, value, &flags, precision)?;
        text.push_str(&padded(&written, width, &flags, matches!(value.kind, Kind::Text(_))));
    }
    if values.len() > 0 {
        return Err(Fault::limit(0, "it has more arguments than verbs, which is not supported"));
    }
    Ok(text)
}

fn padded(written: &str, width: usize, flags: &str, is_text: bool) -> String {
    let missing = width.saturating_sub(written.chars().count());
    if flags.contains('-') {
        return format!("{written}{}", " ".repeat(missing));
    }
    if flags.contains('0') && !is_text {
        let (sign, digits) = match written.strip_prefix(['-', '+']) {
            Some(digits) => (written.get(..1).unwrap_or_default(), digits),
            None => ("", written),
        };
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    format!("{}{written}", if flags.contains('0') { "0" } else { " " }.repeat(missing))
}

fn verbed(verb: char, value: &Value, flags: &str, precision: Option<usize>) -> Result<String, Fault> {
    if flags.contains(['#', ' ']) {
        return Err(Fault::limit(0, format!("`%{flags}{verb}` is not supported")));
    }
    let sign = |text: String, positive: bool| if flags.contains('+') && positive { format!("+{text}") } else { text };
    let text = match (verb, &value.kind) {
        ('v' | 'd', Kind::Int(number) | Kind::Int64(number)) if precision.is_none() => {
            sign(number.to_string(), *number >= 0)
        }
        ('v', Kind::Float(_)) if precision.is_some() || flags.contains('+') => {
            return Err(Fault::limit(0, "a precision or a sign of `%v` is not supported"));
        }
        ('v', _) => sprint(value)?,
        ('s', Kind::Text(text)) => match precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_string(),
        },
        ('q', Kind::Text(text)) if precision.is_none() => literal::quoted(text),
        ('t', Kind::Bool(value)) => value.to_string(),
        ('x', Kind::Int(number) | Kind::Int64(number)) if *number >= 0 => format!("{number:x}"),
        ('X', Kind::Int(number) | Kind::Int64(number)) if *number >= 0 => format!("{number:X}"),
        ('o', Kind::Int(number) | Kind::Int64(number)) if *number >= 0 => format!("{number:o}"),
        ('b', Kind::Int(number) | Kind::Int64(number)) if *number >= 0 => format!("{number:b}"),
        ('f' | 'F', Kind::Float(number)) if number.is_finite() => {
            sign(format!("{number:.*}", precision.unwrap_or(6)), *number >= 0.0)
        }
        ('g', Kind::Float(number)) if precision.is_none() => sign(float(*number), *number >= 0.0),
        ('T', _) => value.type_name().to_owned(),
        // If a verb does not fit a value, Go prints the verb together with the value.
        (
            's' | 'd' | 'q' | 't' | 'f',
            Kind::Bool(_) | Kind::Int(_) | Kind::Int64(_) | Kind::Float(_) | Kind::Text(_),
        ) if !(verb == 'q' && matches!(value.kind, Kind::Int(_) | Kind::Int64(_))) && precision.is_none() => {
            format!("%!{verb}({}={})", value.type_name(), sprint(value)?)
        }
        _ => {
            return Err(Fault::limit(
                0,
                format!("`%{verb}` of a value of type {} is not supported", value.type_name()),
            ));
        }
    };
    Ok(text)
}
