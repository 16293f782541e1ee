//! Nodes that no file holds as such: they stand at the place in a file that asks for them.

use crate::text::Span;
use crate::yaml::{Entry, Node, Style, Value};

/// A text at a place.
pub(crate) fn text(text: &str, place: &Span) -> Node {
    Node::scalar(text, Style::Plain, place.clone())
}

/// A text that stays one, whatever it looks like.
pub(crate) fn quoted(text: &str, place: &Span) -> Node {
    Node::scalar(text, Style::Double, place.clone())
}

/// A list at a place.
pub(crate) fn list(items: Vec<Node>, place: &Span) -> Node {
    Node::at(Value::Seq(items.into()), place.clone())
}

/// A mapping at a place; its keys stand there too, since their values say more.
pub(crate) fn map(entries: Vec<(&str, Node)>, place: &Span) -> Node {
    let entries: Vec<Entry> = entries.into_iter().map(|(key, node)| entry(key, node)).collect();
    Node::at(Value::Map(entries.into()), place.clone())
}

/// An entry whose key stands where its value does: a key's place is in the file of its value.
pub(crate) fn entry(key: &str, node: Node) -> Entry {
    let place = node.origin.written().clone();
    Entry::new(key, &place, node)
}
