//! A value that the API server rejects, and fields as it reads them.

use crate::lint::fields::known_text;
use crate::text::Span;
use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The largest number of a port.
pub(super) const MAX_PORT: i64 = 65_535;

/// A value that the API server rejects.
pub(super) struct Fault {
    pub at: Span,
    /// The fault, after the name of the object.
    pub message: String,
    pub remedy: String,
}

impl Fault {
    pub(super) fn new(at: &Node, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { at: at.span().clone(), message: message.into(), remedy: remedy.into() }
    }
}

/// The value of a field, if it is set.
pub(super) fn field<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    node.get(key).filter(|node| !node.is_null())
}

/// The items of a list, if all of them are known.
pub(super) fn list<'a>(node: &'a Node, key: &str) -> Option<&'a [Node]> {
    match field(node, key) {
        Some(list) => list.is_seq().then(|| list.items()),
        None => Some(&[]),
    }
}

/// The items of a list, even if it is not a list.
pub(super) fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    field(node, key).map_or(&[][..], Node::items)
}

/// The text of a field, if it is known.
pub(super) fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    field(node, key).and_then(known_text)
}

/// A field with its text, if the text is known.
pub(super) fn known<'a>(node: &'a Node, key: &str) -> Option<(&'a Node, &'a str)> {
    field(node, key).and_then(|node| Some((node, known_text(node)?)))
}

/// The number of a field, if it is known.
pub(super) fn number(node: &Node, key: &str) -> Option<i64> {
    text(node, key)?.parse().ok()
}

/// The value of an integer, if it is known.
pub(super) fn integer(node: &Node) -> Option<i64> {
    match node.resolve(Reader::Kustomize)? {
        Scalar::Int(value) => i64::try_from(value).ok(),
        _ => None,
    }
}

/// Returns whether a node contains a value that only the cluster knows.
pub(super) fn is_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, style) => *style == Style::Unknown || text.contains("${"),
        Value::Seq(items) => items.iter().any(is_unknown),
        Value::Map(entries) => entries.iter().any(|entry| entry.key.contains("${") || is_unknown(&entry.node)),
    }
}
