//! Comparisons, conditions, printing, and types.

use super::function::{DEPTH, Function, arg, boolean, error, int, paid, text};
use crate::flux::resourceset::template::budget::Budget;
use crate::flux::resourceset::template::fault::Fault;
use crate::flux::resourceset::template::functions::function::Parameter::{Any, Bool, Text};
use crate::flux::resourceset::template::go;
use crate::flux::resourceset::template::value::{Items, Kind, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("not", &[Any], None, |a, _| boolean(!truth(arg(a, 0)))),
    Function::new("eq", &[Any], Some(Any), eq),
    Function::new("ne", &[Any, Any], None, |a, budget| negate(eq(a, budget))),
    Function::new("lt", &[Any, Any], None, |a, _| boolean(less(arg(a, 0), arg(a, 1))?)),
    Function::new("le", &[Any, Any], None, at_most),
    Function::new("gt", &[Any, Any], None, |a, budget| negate(at_most(a, budget))),
    Function::new("ge", &[Any, Any], None, |a, _| boolean(!less(arg(a, 0), arg(a, 1))?)),
    Function::new("len", &[Any], None, len),
    Function::new("index", &[Any], Some(Any), index),
    Function::new("print", &[], Some(Any), |a, budget| paid(go::sprint_all(a)?, budget)),
    Function::new("println", &[], Some(Any), println),
    Function::new("printf", &[Text], Some(Any), |a, budget| {
        paid(go::sprintf(text(a, 0), a.get(1..).unwrap_or_default())?, budget)
    }),
    Function::new("default", &[Any], Some(Any), |a, _| {
        let given = a.get(1).filter(|given| truth(given));
        Ok(given.unwrap_or(arg(a, 0)).clone())
    }),
    Function::new("empty", &[Any], None, |a, _| boolean(!truth(arg(a, 0)))),
    Function::new("coalesce", &[], Some(Any), |a, _| {
        Ok(a.iter().find(|value| truth(value)).cloned().unwrap_or(Value::new(Kind::Nil)))
    }),
    Function::new("all", &[], Some(Any), |a, _| boolean(a.iter().all(truth))),
    Function::new("any", &[], Some(Any), |a, _| boolean(a.iter().any(truth))),
    Function::new("ternary", &[Any, Any, Bool], None, |a, _| Ok(arg(a, usize::from(!truth(arg(a, 2)))).clone())),
    Function::new("typeOf", &[Any], None, |a, _| Ok(Value::text(arg(a, 0).type_name()))),
    Function::new("typeIs", &[Text, Any], None, |a, _| boolean(text(a, 0) == arg(a, 1).type_name())),
    Function::new("typeIsLike", &[Text, Any], None, |a, _| {
        let (wanted, found) = (text(a, 0), arg(a, 1).type_name());
        boolean(wanted == found || found.strip_prefix('*') == Some(wanted))
    }),
    Function::new("kindOf", &[Any], None, |a, _| Ok(Value::text(arg(a, 0).kind_name()))),
    Function::new("kindIs", &[Text, Any], None, |a, _| boolean(text(a, 0) == arg(a, 1).kind_name())),
    Function::new("deepEqual", &[Any, Any], None, |a, _| boolean(arg(a, 0).deep_equal(arg(a, 1), DEPTH))),
    Function::new("fail", &[Text], None, |a, _| Err(error(text(a, 0)))),
    Function::new("hello", &[], None, |_, _| Ok(Value::text("Hello!"))),
];

/// Returns whether a known value is not empty.
pub(super) fn truth(value: &Value) -> bool {
    value.truth().unwrap_or(true)
}

fn negate(value: Result<Value, Fault>) -> Result<Value, Fault> {
    boolean(!truth(&value?))
}

/// The kinds that comparisons distinguish.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Basic {
    Bool,
    Int,
    Float,
    Text,
    Other,
}

fn basic(value: &Value) -> Basic {
    match &value.kind {
        Kind::Bool(_) => Basic::Bool,
        Kind::Int(_) | Kind::Int64(_) => Basic::Int,
        Kind::Float(_) => Basic::Float,
        Kind::Text(_) => Basic::Text,
        _ => Basic::Other,
    }
}

/// Returns whether the first argument equals one of the other arguments.
fn eq(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let (first, others) = (arg(arguments, 0), arguments.get(1..).unwrap_or_default());
    if others.is_empty() {
        return Err(error("the argument to compare with is missing"));
    }
    for other in others {
        if equal(first, other)? {
            return boolean(true);
        }
    }
    boolean(false)
}

fn equal(a: &Value, b: &Value) -> Result<bool, Fault> {
    let nil = |value: &Value| matches!(value.kind, Kind::Nil);
    if nil(a) || nil(b) {
        return Ok(nil(a) && nil(b));
    }
    if basic(a) != basic(b) {
        return Err(error(format!("cannot compare {} with {}", a.type_name(), b.type_name())));
    }
    #[expect(clippy::float_cmp, reason = "Go compares likewise")]
    Ok(match (&a.kind, &b.kind) {
        (Kind::Int(a) | Kind::Int64(a), Kind::Int(b) | Kind::Int64(b)) => a == b,
        (Kind::Float(a), Kind::Float(b)) => a == b,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Text(a), Kind::Text(b)) => a == b,
        _ => return Err(error(format!("values of type {} cannot be compared", a.type_name()))),
    })
}

fn less(a: &Value, b: &Value) -> Result<bool, Fault> {
    match (&a.kind, &b.kind) {
        (Kind::Int(a) | Kind::Int64(a), Kind::Int(b) | Kind::Int64(b)) => Ok(a < b),
        (Kind::Float(a), Kind::Float(b)) => Ok(a < b),
        (Kind::Text(a), Kind::Text(b)) => Ok(a < b),
        _ => Err(error(format!("cannot order {} and {}", a.type_name(), b.type_name()))),
    }
}

fn at_most(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let (a, b) = (arg(arguments, 0), arg(arguments, 1));
    boolean(less(a, b)? || equal(a, b)?)
}

fn len(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let value = arg(arguments, 0);
    let len = match &value.kind {
        Kind::Text(text) => text.len(),
        Kind::List(items, _) => items.len(),
        Kind::Map(entries) | Kind::Texts(entries) => entries.borrow().len(),
        _ => return Err(error(format!("a value of type {} has no length", value.type_name()))),
    };
    Ok(Value::new(Kind::Int(i64::try_from(len).unwrap_or(i64::MAX))))
}

fn index(arguments: &[Value], _: &mut Budget) -> Result<Value, Fault> {
    let mut found = arg(arguments, 0).clone();
    if matches!(found.kind, Kind::Nil) {
        return Err(error("a null value cannot be indexed"));
    }
    for key in arguments.get(1..).unwrap_or_default() {
        let next = match (&found.kind, &key.kind) {
            (Kind::List(..) | Kind::Text(_), Kind::Int(at) | Kind::Int64(at)) => {
                let outside = || error(format!("the index {at} is out of range"));
                let at = usize::try_from(*at).map_err(|_| outside())?;
                match &found.kind {
                    Kind::List(items, _) => items.get(at).cloned().ok_or_else(outside)?,
                    _ => return Err(Fault::limit(0, "an index into a string is not supported")),
                }
            }
            (Kind::Map(entries), Kind::Text(key)) => {
                entries.borrow().get(key).cloned().unwrap_or(Value::new(Kind::Nil))
            }
            (Kind::Texts(entries), Kind::Text(key)) => {
                entries.borrow().get(key).cloned().unwrap_or_else(|| Value::text(""))
            }
            (Kind::Unknown(_), _) => return Ok(found),
            _ => return Err(error(format!("cannot index {} with {}", found.type_name(), key.type_name()))),
        };
        found = next;
    }
    Ok(found)
}

fn println(arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    let words: Result<Vec<String>, Fault> = arguments.iter().map(go::sprint).collect();
    paid(words?.join(" ") + "\n", budget)
}

/// The items of a list as strings, without nil items. Any other value counts as a list with one item.
pub(super) fn strings(value: &Value) -> Result<Vec<String>, Fault> {
    match &value.kind {
        Kind::List(items, of) => {
            let kept = items.iter().filter(|item| *of != Items::Any || !matches!(item.kind, Kind::Nil));
            kept.map(go::sprint).collect()
        }
        Kind::Nil => Ok(Vec::new()),
        _ => Ok(vec![go::sprint(value)?]),
    }
}

/// Converts a signed position to an index; an error if the position is negative or past `len`.
pub(super) fn position(arguments: &[Value], at: usize, len: usize) -> Result<usize, Fault> {
    let position = int(arguments, at);
    let found = usize::try_from(position).ok().filter(|position| *position <= len);
    found.ok_or_else(|| error(format!("the position {position} is out of range")))
}
