//! Scalars as Kubernetes resolves them, in a form that every reader resolves in the same way.

use super::json::key_to_json;
use crate::yaml::scalar::resolve::{Reader, Scalar};
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// Rewrites plain scalars and keys so that every reader resolves them as Kubernetes does: `yes` becomes `true`, and
/// `0644` becomes `420`. Positions do not change.
pub fn as_kubernetes(node: &Node) -> Node {
    let plain = |text: String| Value::Scalar(text.into(), Style::Plain);
    let value = match &node.value {
        Value::Scalar(text, style) => match node.resolve(Reader::Kubernetes) {
            Some(Scalar::Bool(value)) => plain(value.to_string()),
            Some(Scalar::Int(value)) => plain(value.to_string()),
            // Kubernetes resolves a date to a string, and other readers resolve a date to a time.
            Some(Scalar::String(plain))
                if *style == Style::Plain && plain.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                Value::Scalar(text.clone(), Style::Double)
            }
            _ => node.value.clone(),
        },
        Value::Seq(items) => Value::Seq(items.iter().map(as_kubernetes).collect()),
        Value::Map(entries) => {
            let entry = |entry: &Entry| {
                let key = key_to_json(entry, Reader::Kubernetes);
                Entry::new(key, &entry.key_span(), as_kubernetes(&entry.node))
            };
            Value::Map(entries.iter().map(entry).collect())
        }
    };
    Node { value, origin: node.origin.clone() }
}
