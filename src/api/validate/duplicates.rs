//! Lists whose items must be unique: `x-kubernetes-list-type` `set` and `map`.

use std::collections::BTreeMap;

use super::mismatch::{Fault, Mismatch};
use super::path::Path;
use super::state::Walk;
use super::value::{is_null, is_unknown, scalar};
use crate::api::schema::{Layout, Schema};
use crate::yaml::{Node, Scalar, Value};

/// Checks that the items of a list are unique.
pub(super) fn check_items(node: &Node, schema: &Schema, path: &Path<'_>, walk: &mut Walk) {
    let items = node.items();
    match &schema.layout {
        Layout::Set => {
            if let Some(item) = items.iter().find(|item| !matches!(item.value, Value::Scalar(..))) {
                let message = "is a list of type `set`, which must contain scalars for server-side apply".to_owned();
                walk.add_at(Fault::Type, item, path, message, None);
                return;
            }
            let key = |item: &Node| (!is_unknown(item)).then(|| print(item))?;
            report(items, key, path, walk, |item| format!("contains `{item}` twice"));
        }
        Layout::Map(keys) => {
            if let Some(item) = items.iter().find(|item| walk.is_typed() && is_null(item)) {
                let message = "contains null, which is not possible in a list with keys".to_owned();
                walk.add_at(Fault::Type, item, path, message, Some("remove the item".to_owned()));
            }
            let key = |item: &Node| key_of(item, keys, schema);
            report(items, key, path, walk, |item| format!("has two items with {item}"));
        }
        Layout::Default | Layout::Atomic | Layout::Granular => {}
    }
}

/// Reports each item with the key of an earlier item.
fn report(
    items: &[Node],
    key: impl Fn(&Node) -> Option<String>,
    path: &Path<'_>,
    walk: &mut Walk,
    message: impl Fn(&str) -> String,
) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        if !walk.step() {
            return;
        }
        let Some(key) = key(item) else { continue };
        if let Some(first) = seen.get(&key) {
            let line = items.get(*first).map_or(0, |first| first.span().position().line);
            walk.add(Mismatch {
                fault: Fault::Duplicate,
                path: path.text(),
                at: item.span().clone(),
                message: message(&key),
                help: Some(format!("keep one of them; the first one is at line {line}")),
                meant: None,
            });
        } else {
            seen.insert(key, index);
        }
    }
}

/// The values of the keys of an item; `None` if one of them is unknown or no scalar.
fn key_of(item: &Node, keys: &[Box<str>], schema: &Schema) -> Option<String> {
    if !item.is_map() {
        return None;
    }
    let mut parts = Vec::with_capacity(keys.len());
    let mut is_identified = false;
    for key in keys {
        let value = match item.get(key).filter(|value| !is_null(value)) {
            Some(value) if is_unknown(value) => return None,
            Some(value) => {
                is_identified = true;
                print(value)?
            }
            // The default of the field is its key.
            None => match schema.items.as_ref()?.property(key).and_then(|schema| schema.default.as_ref()) {
                Some(default) => {
                    is_identified = true;
                    default.as_str().map_or_else(|| default.to_string(), str::to_owned)
                }
                None => String::new(),
            },
        };
        parts.push(format!("`{key}: {value}`"));
    }
    // An item without any key is another fault.
    is_identified.then(|| parts.join(", "))
}

/// The text of a scalar with its type; `None` for a collection.
fn print(node: &Node) -> Option<String> {
    Some(match scalar(node)? {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(number) => number.to_string(),
        Scalar::Float(number) => number.to_string(),
        Scalar::String(text) => text.to_owned(),
    })
}
