//! Values as the API server validates them: with defaults.
//!
//! Source: `pkg/apiserver/schema/defaulting` of `k8s.io/apiextensions-apiserver`.

use super::value::{is_null, is_unknown};
use crate::api::schema::Schema;
use crate::yaml::{Entry, Node, Style, Value, from_json};

/// The maximum nesting of values with defaults.
const MAX_DEPTH: usize = 100;

/// Returns a value with the defaults of its schema, in which unknown values are marked.
pub(super) fn with_defaults(node: &Node, schema: &Schema) -> Node {
    prepare(node, Some(schema), 0)
}

fn prepare(node: &Node, schema: Option<&Schema>, depth: usize) -> Node {
    if depth > MAX_DEPTH {
        return node.clone();
    }
    let value = match &node.value {
        Value::Scalar(text, _) if is_unknown(node) => Value::Scalar(text.clone(), Style::Unknown),
        Value::Scalar(..) => return default_of_null(node, schema).unwrap_or_else(|| node.clone()),
        Value::Seq(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            Value::Seq(items.iter().map(|item| prepare(item, schema, depth + 1)).collect())
        }
        Value::Map(entries) => {
            let below = |entry: &Entry| {
                let schema = schema.and_then(|schema| schema.field(&entry.key));
                entry.with_node(prepare(&entry.node, schema, depth + 1))
            };
            let own = entries.iter().map(below);
            Value::Map(own.chain(missing(node, schema)).collect())
        }
    };
    Node { value, origin: node.origin.clone() }
}

/// The default that replaces null.
fn default_of_null(node: &Node, schema: Option<&Schema>) -> Option<Node> {
    let schema = schema.filter(|schema| !schema.nullable && is_null(node))?;
    Some(from_json(schema.default.as_ref()?, node.span()))
}

/// The defaults of the fields that a mapping does not have.
fn missing<'a>(node: &'a Node, schema: Option<&'a Schema>) -> impl Iterator<Item = Entry> + 'a {
    let properties = schema.into_iter().flat_map(|schema| schema.properties.iter());
    properties.filter(|(name, _)| node.get(name).is_none()).filter_map(|(name, schema)| {
        let default = from_json(schema.default.as_ref()?, node.span());
        Some(Entry::new(&**name, node.span(), default))
    })
}
