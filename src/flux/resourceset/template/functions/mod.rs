//! The functions of templates: the deterministic functions of slim-sprig, the functions of Go, and of the operator.

mod basic;
mod encode;
mod maps;
mod paths;
mod regexes;
mod lists;
mod numbers;
mod strings;

pub(in crate::flux::resourceset) use encode::adler32;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::value::{Kind, Map, Value};
use super::{Budget, Fault};

/// A function.
pub(super) struct Function {
    name: &'static str,
    /// The types of its parameters.
    pub(super) parameters: &'static [Parameter],
    /// The type of any further arguments.
    pub(super) rest: Option<Parameter>,
    /// The implementation. Its errors have no position.
    pub(super) call: fn(&[Value], &mut Budget) -> Result<Value, Fault>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Any,
    Text,
    Int,
    Bool,
    Float,
    Map,
}

impl Parameter {
    /// The name of the type in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Text => "a string",
            Self::Int => "an integer (`int`)",
            Self::Bool => "a boolean",
            Self::Float => "a float",
            Self::Map => "a mapping",
        }
    }
}

impl Function {
    const fn new(
        name: &'static str,
        parameters: &'static [Parameter],
        rest: Option<Parameter>,
        call: fn(&[Value], &mut Budget) -> Result<Value, Fault>,
    ) -> Self {
        Self { name, parameters, rest, call }
    }

    /// The type of the argument at a position.
    pub(super) fn parameter(&self, at: usize) -> Parameter {
        self.parameters.get(at).copied().or(self.rest).unwrap_or(Parameter::Any)
    }
}

static FUNCTIONS: LazyLock<BTreeMap<&'static str, &'static Function>> = LazyLock::new(|| {
    let files: [&[Function]; 8] = [
        basic::FUNCTIONS,
        encode::FUNCTIONS,
        lists::FUNCTIONS,
        maps::FUNCTIONS,
        numbers::FUNCTIONS,
        paths::FUNCTIONS,
        regexes::FUNCTIONS,
        strings::FUNCTIONS,
    ];
    files.into_iter().flatten().map(|function| (function.name, function)).collect()
});

/// Unsupported functions, for example because they read the clock or are random.
const OTHERS: &[&str] = &[
    "ago",
    "b32dec",
    "b32enc",
    "call",
    "duration",
    "durationRound",
    "html",
    "js",
    "mustDateModify",
    "mustToDate",
    "must_date_modify",
    "randInt",
    "sha1sum",
    "toDate",
    "unixEpoch",
    "urlJoin",
    "urlParse",
    "urlquery",
];

/// Returns an error if a function does not exist.
pub(super) fn check(name: &str, at: usize) -> Result<(), Fault> {
    let special = matches!(name, "inputs" | "and" | "or");
    if special || FUNCTIONS.contains_key(name) || OTHERS.contains(&name) {
        return Ok(());
    }
    Err(Fault::error(at, format!("unknown function `{name}`")))
}

/// Finds a function by name.
pub(super) fn find(name: &str, at: usize) -> Result<&'static Function, Fault> {
    match FUNCTIONS.get(name) {
        Some(function) => Ok(function),
        None if OTHERS.contains(&name) => Err(Fault::limit(at, format!("the function `{name}`"))),
        None => Err(Fault::error(at, format!("unknown function `{name}`"))),
    }
}

/// The maximum depth of comparisons.
const DEPTH: usize = 100;

fn arg(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(const { &Value { kind: Kind::Nil, place: None } })
}

fn text(arguments: &[Value], at: usize) -> &str {
    match &arg(arguments, at).kind {
        Kind::Text(text) => text,
        _ => "",
    }
}

fn int(arguments: &[Value], at: usize) -> i64 {
    match &arg(arguments, at).kind {
        Kind::Int(value) => *value,
        _ => 0,
    }
}

fn map(arguments: &[Value], at: usize) -> Option<&Map> {
    match &arg(arguments, at).kind {
        Kind::Map(map) => Some(map),
        _ => None,
    }
}

/// The items of a list; an error for any other value.
fn items<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], Fault> {
    match &value.kind {
        Kind::List(items, _) => Ok(items),
        _ => Err(error(format!("cannot {what} a value of type {}", value.type_name()))),
    }
}

fn error(message: impl Into<String>) -> Fault {
    Fault::error(0, message)
}

#[expect(clippy::unnecessary_wraps, reason = "functions return this type")]
fn boolean(value: bool) -> Result<Value, Fault> {
    Ok(Value::bool(value))
}

/// Creates a string value and charges its size to the budget.
fn paid(text: impl Into<String>, budget: &mut Budget) -> Result<Value, Fault> {
    let text: String = text.into();
    budget.bytes(text.len())?;
    Ok(Value::text(text))
}

/// Creates a list value and charges its size to the budget.
fn paid_list(items: Vec<Value>, budget: &mut Budget) -> Result<Value, Fault> {
    budget.bytes(items.len() * size_of::<Value>())?;
    Ok(Value::list(items))
}
