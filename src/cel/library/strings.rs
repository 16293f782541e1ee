//! Functions of texts. Positions count characters.

use arcstr::ArcStr;

use super::arguments::{int, list, text};
use super::function::{ALWAYS, Function};
use crate::cel::budget::Budget;
use crate::cel::failure::Failure;
use crate::cel::value::Value;

const CONTAINS: &[&str] = &["string.(string) bool"];
const INDEX: &[&str] = &["string.(string) int", "string.(string, int) int", "list(A).(A) int"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("contains", ALWAYS, CONTAINS, |arguments, budget| {
        // The search compares the pattern with each part of the text in the worst case.
        let (own, other) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?);
        Ok(Value::Bool(own.contains(other)))
    }),
    Function::new("startsWith", ALWAYS, CONTAINS, |arguments, budget| {
        let other = text(arguments, 1, budget)?;
        Ok(Value::Bool(text(arguments, 0, budget)?.starts_with(other)))
    }),
    Function::new("endsWith", ALWAYS, CONTAINS, |arguments, budget| {
        let other = text(arguments, 1, budget)?;
        Ok(Value::Bool(text(arguments, 0, budget)?.ends_with(other)))
    }),
    Function::new("charAt", ALWAYS, &["string.(int) string"], |arguments, budget| {
        let (own, at) = (text(arguments, 0, budget)?, int(arguments, 1)?);
        let length = own.chars().count();
        match usize::try_from(at) {
            Ok(at) if at <= length => Ok(Value::text(own.chars().skip(at).take(1).collect::<String>())),
            _ => Err(out_of_range(at)),
        }
    }),
    Function::new("indexOf", ALWAYS, INDEX, |arguments, budget| match arguments {
        [Value::List(_), ..] => super::lists::index_of(arguments, budget, false),
        _ => index_of(arguments, budget),
    }),
    Function::new("lastIndexOf", ALWAYS, INDEX, |arguments, budget| match arguments {
        [Value::List(_), ..] => super::lists::index_of(arguments, budget, true),
        _ => last_index_of(arguments, budget),
    }),
    Function::new("lowerAscii", ALWAYS, &["string.() string"], |arguments, budget| {
        text(arguments, 0, budget).map(|text| Value::text(text.to_ascii_lowercase()))
    }),
    Function::new("upperAscii", ALWAYS, &["string.() string"], |arguments, budget| {
        text(arguments, 0, budget).map(|text| Value::text(text.to_ascii_uppercase()))
    }),
    Function::new("trim", ALWAYS, &["string.() string"], |arguments, budget| {
        text(arguments, 0, budget).map(|text| Value::text(text.trim()))
    }),
    Function::new(
        "replace",
        ALWAYS,
        &["string.(string, string) string", "string.(string, string, int) string"],
        replace,
    ),
    Function::new("split", ALWAYS, &["string.(string) list(string)", "string.(string, int) list(string)"], split),
    Function::new("substring", ALWAYS, &["string.(int) string", "string.(int, int) string"], substring),
    Function::new("join", ALWAYS, &["list(string).() string", "list(string).(string) string"], join),
    Function::new("strings.quote", ALWAYS, &["(string) string"], |arguments, budget| {
        text(arguments, 0, budget).map(|text| Value::text(quote(text)))
    }),
];

fn out_of_range(index: i64) -> Failure {
    Failure::error(format!("index out of range: {index}"))
}

/// The position after an optional offset in the arguments: the text from it, and the offset.
fn index_of(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (own, other) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?);
    let offset = if arguments.len() > 2 { int(arguments, 2)? } else { 0 };
    if other.is_empty() {
        return Ok(Value::Int(offset));
    }
    let start = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    let Some((from, _)) = own.char_indices().nth(start) else { return Ok(Value::Int(-1)) };
    let rest = own.get(from..).unwrap_or_default();
    let found = rest.find(other).and_then(|at| rest.get(..at)).map(|before| start + before.chars().count());
    Ok(found.map_or(Value::Int(-1), super::operators::length))
}

fn last_index_of(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (own, other) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?);
    let length = own.chars().count();
    let Some(offset) = arguments.get(2) else {
        let found = own.rfind(other).and_then(|at| own.get(..at)).map(|before| before.chars().count());
        return Ok(found.map_or(Value::Int(-1), super::operators::length));
    };
    let Value::Int(offset) = *offset else { return Err(Failure::no_overload()) };
    if other.is_empty() {
        return Ok(Value::Int(offset));
    }
    let offset = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    if offset >= length {
        return Ok(Value::Int(-1));
    }
    // A match that starts at the offset or before it ends in this part.
    let end = own.char_indices().nth(offset + other.chars().count()).map_or(own.len(), |(at, _)| at);
    let part = own.get(..end).unwrap_or(own);
    let found = part.rfind(other).and_then(|at| part.get(..at)).map(|before| before.chars().count());
    Ok(found.map_or(Value::Int(-1), super::operators::length))
}

/// The count of an optional argument; a negative count means no limit.
fn count(arguments: &[Value], at: usize) -> Result<usize, Failure> {
    match arguments.get(at) {
        None => Ok(usize::MAX),
        Some(_) => Ok(usize::try_from(int(arguments, at)?).unwrap_or(usize::MAX)),
    }
}

fn replace(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (own, old, new) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?, text(arguments, 2, budget)?);
    let limit = count(arguments, 3)?;
    let matches = own.matches(old).take(limit).count();
    budget.spend_text(own.len().saturating_add(matches.saturating_mul(new.len())))?;
    Ok(Value::text(own.replacen(old, new, limit)))
}

fn split(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (own, separator) = (text(arguments, 0, budget)?, text(arguments, 1, budget)?);
    let limit = count(arguments, 2)?;
    if limit == 0 {
        return Ok(Value::list([]));
    }
    let parts: Vec<&str> = if separator.is_empty() {
        let mut parts = Vec::new();
        let mut rest = own;
        while let Some(c) = rest.chars().next() {
            if parts.len() + 1 == limit {
                parts.push(rest);
                break;
            }
            let (first, after) = rest.split_at_checked(c.len_utf8()).unwrap_or((rest, ""));
            parts.push(first);
            rest = after;
        }
        parts
    } else {
        own.splitn(limit, separator).collect()
    };
    budget.spend(parts.len())?;
    Ok(Value::list(parts.into_iter().map(Value::text)))
}

fn substring(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let (own, start) = (text(arguments, 0, budget)?, int(arguments, 1)?);
    let length = own.chars().count();
    let checked =
        |index: i64| usize::try_from(index).ok().filter(|at| *at <= length).ok_or_else(|| out_of_range(index));
    let (from, to) = if arguments.len() > 2 {
        let end = int(arguments, 2)?;
        if start > end {
            return Err(Failure::error(format!("invalid substring range. start: {start}, end: {end}")));
        }
        (checked(start)?, checked(end)?)
    } else {
        (checked(start)?, length)
    };
    Ok(Value::text(own.chars().skip(from).take(to - from).collect::<String>()))
}

fn join(arguments: &[Value], budget: &mut Budget) -> Result<Value, Failure> {
    let list = list(arguments, 0, budget)?;
    let separator = if arguments.len() > 1 { text(arguments, 1, budget)? } else { "" };
    let mut texts: Vec<ArcStr> = Vec::with_capacity(list.len());
    for item in list.iter() {
        match item {
            Value::String(text) => {
                budget.spend_text(text.len() + separator.len())?;
                texts.push(text);
            }
            Value::Unknown => return Err(Failure::Unknown),
            _ => return Err(Failure::error("join: invalid input")),
        }
    }
    Ok(Value::text(texts.join(separator)))
}

/// The text in quotes, with escape sequences.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
