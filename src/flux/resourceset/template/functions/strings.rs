//! Strings.

use std::cell::RefCell;
use std::rc::Rc;

use super::basic::position;
use super::function::{Function, arg, boolean, error, int, paid, text};
use super::lists::split;
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Int, Text};
use crate::flux::resourceset::template::value::{Kind, Value};
use crate::flux::resourceset::template::{go, literal};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("quote", &[], Some(Any), |a, budget| written(a, budget, literal::quoted)),
    Function::new("squote", &[], Some(Any), |a, budget| written(a, budget, |text| format!("'{text}'"))),
    Function::new("cat", &[], Some(Any), |a, budget| written(a, budget, ToOwned::to_owned)),
    Function::new("toString", &[Any], None, |a, budget| paid(go::sprint(arg(a, 0))?, budget)),
    Function::new("trim", &[Text], None, |a, budget| paid(text(a, 0).trim(), budget)),
    Function::new("trimAll", &[Text, Text], None, trim_all),
    Function::new("trimall", &[Text, Text], None, trim_all),
    Function::new("trimPrefix", &[Text, Text], None, |a, budget| {
        paid(text(a, 1).strip_prefix(text(a, 0)).unwrap_or(text(a, 1)), budget)
    }),
    Function::new("trimSuffix", &[Text, Text], None, |a, budget| {
        paid(text(a, 1).strip_suffix(text(a, 0)).unwrap_or(text(a, 1)), budget)
    }),
    Function::new("upper", &[Text], None, |a, budget| paid(text(a, 0).to_uppercase(), budget)),
    Function::new("lower", &[Text], None, |a, budget| paid(text(a, 0).to_lowercase(), budget)),
    Function::new("title", &[Text], None, |a, budget| paid(title(text(a, 0)), budget)),
    Function::new("repeat", &[Int, Text], None, repeat),
    Function::new("contains", &[Text, Text], None, |a, _| boolean(text(a, 1).contains(text(a, 0)))),
    Function::new("hasPrefix", &[Text, Text], None, |a, _| boolean(text(a, 1).starts_with(text(a, 0)))),
    Function::new("hasSuffix", &[Text, Text], None, |a, _| boolean(text(a, 1).ends_with(text(a, 0)))),
    Function::new("indent", &[Int, Text], None, |a, budget| indent(a, "", budget)),
    Function::new("nindent", &[Int, Text], None, |a, budget| indent(a, "\n", budget)),
    Function::new("replace", &[Text, Text, Text], None, |a, budget| {
        let (old, new, text) = (text(a, 0), text(a, 1), text(a, 2));
        budget.bytes(text.matches(old).count() * new.len())?;
        paid(text.replace(old, new), budget)
    }),
    Function::new("plural", &[Text, Text, Int], None, |a, _| Ok(arg(a, usize::from(int(a, 2) != 1)).clone())),
    Function::new("trunc", &[Int, Text], None, trunc),
    Function::new("substr", &[Int, Int, Text], None, substr),
    Function::new("split", &[Text, Text], None, |a, budget| numbered(split(text(a, 1), text(a, 0)), budget)),
    Function::new("splitn", &[Text, Int, Text], None, |a, budget| {
        let (separator, text) = (text(a, 0), text(a, 2));
        match usize::try_from(int(a, 1)) {
            Ok(0) => numbered(Vec::new(), budget),
            Ok(_) if separator.is_empty() => Err(Fault::limit(0, "an empty separator is not supported")),
            Ok(limit) => numbered(text.splitn(limit, separator).collect(), budget),
            Err(_) => numbered(split(text, separator), budget),
        }
    }),
];

/// Joins the arguments with spaces, including empty strings but not `nil`.
fn written(arguments: &[Value], budget: &mut Budget, write: fn(&str) -> String) -> Result<Value, Fault> {
    let said = arguments.iter().filter(|value| !matches!(value.kind, Kind::Nil));
    let words: Result<Vec<String>, Fault> = said.map(|value| Ok(write(&go::sprint(value)?))).collect();
    paid(words?.join(" "), budget)
}

fn trim_all(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let cut = text(arguments, 0);
    paid(text(arguments, 1).trim_matches(|c| cut.contains(c)), budget)
}

/// Converts the first letter of each word to upper case.
fn title(text: &str) -> String {
    let mut before = ' ';
    let mut titled = String::with_capacity(text.len());
    for character in text.chars() {
        let inside = before.is_alphanumeric() || before == '_' || !(before.is_ascii() || before.is_whitespace());
        if inside {
            titled.push(character);
        } else {
            titled.extend(character.to_uppercase());
        }
        before = character;
    }
    titled
}

fn repeat(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let (count, text) = (int(arguments, 0), text(arguments, 1));
    let count = usize::try_from(count).map_err(|_| error("the count is negative"))?;
    budget.bytes(count.saturating_mul(text.len()))?;
    Ok(Value::text(text.repeat(count)))
}

fn indent(arguments: &[Value], before: &str, budget: &mut Budget) -> Result<Value, Fault> {
    let (spaces, text) = (int(arguments, 0), text(arguments, 1));
    let spaces = usize::try_from(spaces).map_err(|_| error("the indentation is negative"))?;
    budget.bytes((text.matches('\n').count() + 1).saturating_mul(spaces))?;
    let pad = " ".repeat(spaces);
    paid(format!("{before}{pad}{}", text.replace('\n', &format!("\n{pad}"))), budget)
}

/// A substring by bytes. A substring that splits a character is not supported.
fn cut(text: &str, from: usize, to: usize, budget: &mut Budget) -> Result<Value, Fault> {
    if from > to || to > text.len() {
        return Err(error("the substring is out of range"));
    }
    paid(text.get(from..to).ok_or_else(|| Fault::limit(0, "a part of a character is not supported"))?, budget)
}

fn trunc(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let (count, text) = (int(arguments, 0), text(arguments, 1));
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if size >= text.len() {
        return paid(text, budget);
    }
    if count < 0 { cut(text, text.len() - size, text.len(), budget) } else { cut(text, 0, size, budget) }
}

fn substr(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let text = text(arguments, 2);
    if int(arguments, 0) < 0 {
        return cut(text, 0, position(arguments, 1, text.len())?, budget);
    }
    let end = usize::try_from(int(arguments, 1)).ok().filter(|end| *end <= text.len());
    cut(text, position(arguments, 0, text.len())?, end.unwrap_or(text.len()), budget)
}

/// The parts as a mapping with the keys `_0`, `_1` and so on.
fn numbered(parts: Vec<&str>, budget: &mut Budget) -> Result<Value, Fault> {
    budget.bytes(parts.len() * size_of::<Value>())?;
    let parts = parts.into_iter().enumerate();
    let entries = parts.map(|(at, part)| (format!("_{at}").into(), Value::text(part)));
    Ok(Value::new(Kind::Texts(Rc::new(RefCell::new(entries.collect())))))
}
