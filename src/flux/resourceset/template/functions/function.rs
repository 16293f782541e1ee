//! Functions, their parameters and arguments.

use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::value::{Kind, Map, Value};

/// A function.
pub(in crate::flux::resourceset::template) struct Function {
    pub(super) name: &'static str,
    /// The types of the parameters.
    pub(in crate::flux::resourceset::template) parameters: &'static [Parameter],
    /// The type of any further arguments.
    pub(in crate::flux::resourceset::template) rest: Option<Parameter>,
    /// The implementation. Its errors have no position.
    pub(in crate::flux::resourceset::template) call: fn(&[Value], &mut Budget) -> Result<Value, Fault>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::flux::resourceset::template) enum Parameter {
    Any,
    Text,
    Int,
    Bool,
    Float,
    Map,
}

impl Parameter {
    /// The name of the type in messages.
    pub(in crate::flux::resourceset::template) fn name(self) -> &'static str {
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
    pub(super) const fn new(
        name: &'static str,
        parameters: &'static [Parameter],
        rest: Option<Parameter>,
        call: fn(&[Value], &mut Budget) -> Result<Value, Fault>,
    ) -> Self {
        Self { name, parameters, rest, call }
    }

    /// The type of the argument at a position.
    pub(in crate::flux::resourceset::template) fn parameter(&self, at: usize) -> Parameter {
        self.parameters.get(at).copied().or(self.rest).unwrap_or(Parameter::Any)
    }
}

/// The maximum depth of comparisons.
pub(super) const DEPTH: usize = 100;

pub(super) fn arg(arguments: &[Value], at: usize) -> &Value {
    arguments.get(at).unwrap_or(const { &Value { kind: Kind::Nil, place: None } })
}

pub(super) fn text(arguments: &[Value], at: usize) -> &str {
    match &arg(arguments, at).kind {
        Kind::Text(text) => text,
        _ => "",
    }
}

pub(super) fn int(arguments: &[Value], at: usize) -> i64 {
    match &arg(arguments, at).kind {
        Kind::Int(value) => *value,
        _ => 0,
    }
}

pub(super) fn map(arguments: &[Value], at: usize) -> Option<&Map> {
    match &arg(arguments, at).kind {
        Kind::Map(map) => Some(map),
        _ => None,
    }
}

/// The items of a list; an error for any other value.
pub(super) fn items<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], Fault> {
    match &value.kind {
        Kind::List(items, _) => Ok(items),
        _ => Err(error(format!("cannot {what} a value of type {}", value.type_name()))),
    }
}

pub(super) fn error(message: impl Into<String>) -> Fault {
    Fault::error(0, message)
}

#[expect(clippy::unnecessary_wraps, reason = "functions return this type")]
pub(super) fn boolean(value: bool) -> Result<Value, Fault> {
    Ok(Value::bool(value))
}

/// Creates a string value and charges its size to the budget.
pub(super) fn paid(text: impl Into<String>, budget: &mut Budget) -> Result<Value, Fault> {
    let text: String = text.into();
    budget.bytes(text.len())?;
    Ok(Value::text(text))
}

/// Creates a list value and charges its size to the budget.
pub(super) fn paid_list(items: Vec<Value>, budget: &mut Budget) -> Result<Value, Fault> {
    budget.bytes(items.len() * size_of::<Value>())?;
    Ok(Value::list(items))
}
