//! Fields, items and entries of values.

use arcstr::ArcStr;

use super::operand::{known, value};
use super::scope::{Evaluated, Scope};
use crate::cel::failure::Failure;
use crate::cel::library::index as find_index;
use crate::cel::syntax::{Expr, Selection};
use crate::cel::value::{List, Map, MapKey, Value, lookup_steps, unescape};
use crate::yaml::Key;

/// A field of a value.
pub(super) fn select(operand: &Expr, field: &ArcStr, selection: Selection, scope: &mut Scope<'_>) -> Evaluated {
    let operand = known(value(operand, scope)?)?;
    let (operand, was_optional) = match operand {
        Value::Optional(Some(content)) => (known(Value::clone(&content))?, true),
        Value::Optional(None) => {
            return Ok(if selection == Selection::Test { Value::Bool(false) } else { Value::Optional(None) });
        }
        other => (other, false),
    };
    // A value without fields, such as a number, has none. A list fails, since a name is not an index.
    if selection != Selection::Value && !matches!(operand, Value::Map(_) | Value::Record(_) | Value::List(_)) {
        return Ok(if selection == Selection::Test { Value::Bool(false) } else { Value::Optional(None) });
    }
    let found = field_of(&operand, field, scope)?;
    match selection {
        Selection::Test => {
            // An object has a field if it is set and not null.
            let is_object = matches!(&operand, Value::Map(Map::Node(lazy)) if lazy.has_declared_fields());
            Ok(Value::Bool(found.is_some_and(|found| !is_object || !matches!(found, Value::Null))))
        }
        Selection::Optional => Ok(Value::Optional(found.map(Into::into))),
        Selection::Value if was_optional => Ok(Value::Optional(found.map(Into::into))),
        Selection::Value => found.ok_or_else(|| Failure::error(format!("no such key: {field}"))),
    }
}

/// The value of a field; `None` if it does not exist.
fn field_of(operand: &Value, field: &ArcStr, scope: &mut Scope<'_>) -> Result<Option<Value>, Failure> {
    match operand {
        Value::Map(map) => {
            scope.budget.spend(lookup_steps(map))?;
            if let Map::Node(lazy) = map {
                let name: ArcStr = if lazy.has_declared_fields() { unescape(field).into() } else { field.clone() };
                let found = map.get(&MapKey::String(name.clone()));
                scope.read(lazy.read(Key::Name(name), found.is_some()));
                return Ok(found);
            }
            Ok(map.get(&MapKey::String(field.clone())))
        }
        Value::Record(record) => {
            let Some(found) = record.field(field) else { return Ok(None) };
            for read in &found.reads {
                scope.read(read.clone());
            }
            found.value.clone().map(Some)
        }
        _ => Err(Failure::no_overload()),
    }
}

/// An item or an entry of a value.
pub(super) fn index(operand: &Expr, key: &Expr, selection: Selection, scope: &mut Scope<'_>) -> Evaluated {
    let operand = known(value(operand, scope)?)?;
    let key = known(value(key, scope)?)?;
    let (operand, was_optional) = match operand {
        Value::Optional(Some(content)) => (known(Value::clone(&content))?, true),
        Value::Optional(None) => return Ok(Value::Optional(None)),
        other => (other, false),
    };
    let found = find_index(&operand, &key, scope.budget)?;
    note(&operand, &key, found.is_some(), scope);
    if selection == Selection::Optional || was_optional {
        return Ok(Value::Optional(found.map(Into::into)));
    }
    found.ok_or_else(|| match (&operand, &key) {
        (Value::List(_), key) => Failure::error(format!("index out of bounds: {}", text(key))),
        (_, key) => Failure::error(format!("no such key: {}", text(key))),
    })
}

/// Notes the item or the entry that an index reads.
fn note(operand: &Value, key: &Value, exists: bool, scope: &mut Scope<'_>) {
    match (operand, key) {
        (Value::List(List::Node(lazy)), Value::Int(index)) => {
            if let Ok(index) = usize::try_from(*index) {
                scope.read(lazy.read(Key::Index(index), exists));
            }
        }
        (Value::Map(Map::Node(lazy)), Value::String(name)) => scope.read(lazy.read(Key::Name(name.clone()), exists)),
        _ => {}
    }
}

/// A key in a message.
fn text(key: &Value) -> String {
    match key {
        Value::String(text) => text.chars().take(100).collect(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        other => other.type_name().into(),
    }
}
