//! Synthetic nodes: nodes that no file contains, each with the place from which it is derived.

use crate::text::Span;
use crate::yaml::{Entry, Node, Style, Value};

/// A plain scalar.
pub(crate) fn text(text: &str, place: &Span) -> Node {
    Node::scalar(text, Style::Plain, place.clone())
}

/// A string, even if it looks like another type.
pub(crate) fn quoted(text: &str, place: &Span) -> Node {
    Node::scalar(text, Style::Double, place.clone())
}

/// A list.
pub(crate) fn list(items: Vec<Node>, place: &Span) -> Node {
    Node::at(Value::Seq(items.into()), place.clone())
}

/// A mapping whose keys have the places of their values.
pub(crate) fn map(entries: Vec<(&str, Node)>, place: &Span) -> Node {
    let entries: Vec<Entry> = entries.into_iter().map(|(key, node)| entry(key, node)).collect();
    Node::at(Value::Map(entries.into()), place.clone())
}

/// An entry whose key has the place of its value, since a key must be in the file of its value.
pub(crate) fn entry(key: &str, node: Node) -> Entry {
    let place = node.origin.written().clone();
    Entry::new(key, &place, node)
}
