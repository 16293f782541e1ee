//! Values as the API server validates them: with defaults.
//!
//! Source: `pkg/apiserver/schema/defaulting` of `k8s.io/apiextensions-apiserver`.

use super::value::{is_null, is_unknown};
use crate::api::schema::Schema;
use crate::yaml::{Entry, Node, Style, Value, from_json};

/// The maximum nesting of values with defaults.
const MAX_DEPTH: usize = 100;

/// Returns a value with the defaults of its schema, in which unknown values are marked. Shares what does not change.
pub(super) fn with_defaults(node: &Node, schema: &Schema) -> Node {
    changed(node, Some(schema), 0).unwrap_or_else(|| node.clone())
}

/// The value with defaults and marks; `None` if it does not change.
fn changed(node: &Node, schema: Option<&Schema>, depth: usize) -> Option<Node> {
    if depth > MAX_DEPTH {
        return None;
    }
    let value = match &node.value {
        Value::Scalar(_, Style::Unknown) => return None,
        Value::Scalar(text, _) if is_unknown(node) => Value::Scalar(text.clone(), Style::Unknown),
        Value::Scalar(..) => return default_of_null(node, schema),
        Value::Seq(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            let changed: Vec<Option<Node>> = items.iter().map(|item| changed(item, schema, depth + 1)).collect();
            if changed.iter().all(Option::is_none) {
                return None;
            }
            let items = items.iter().zip(changed);
            Value::Seq(items.map(|(item, changed)| changed.unwrap_or_else(|| item.clone())).collect())
        }
        Value::Map(entries) => {
            let below = |entry: &Entry| {
                let schema = schema.and_then(|schema| schema.field(&entry.key));
                changed(&entry.node, schema, depth + 1)
            };
            let changed: Vec<Option<Node>> = entries.iter().map(below).collect();
            let missing: Vec<Entry> = missing(node, schema).collect();
            if missing.is_empty() && changed.iter().all(Option::is_none) {
                return None;
            }
            let entries = entries.iter().zip(changed);
            let own =
                entries.map(|(entry, changed)| changed.map_or_else(|| entry.clone(), |node| entry.with_node(node)));
            Value::Map(own.chain(missing).collect())
        }
    };
    Some(Node { value, origin: node.origin.clone() })
}

/// The default that replaces null.
fn default_of_null(node: &Node, schema: Option<&Schema>) -> Option<Node> {
    let schema = schema.filter(|schema| !schema.nullable && is_null(node))?;
    Some(from_json(schema.default.as_ref()?, node.span()))
}

/// The defaults of the fields that a mapping does not have.
fn missing<'a>(node: &'a Node, schema: Option<&'a Schema>) -> impl Iterator<Item = Entry> + 'a {
    let properties = schema.into_iter().flat_map(|schema| schema.properties.iter());
    properties.filter_map(|(name, schema)| {
        let default = schema.default.as_ref().filter(|_| node.get(name).is_none())?;
        Some(Entry::new(&**name, node.span(), from_json(default, node.span())))
    })
}
