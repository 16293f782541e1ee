//! Values that transformers write, most of them strings.

use std::sync::Arc;

use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Node, Origin, Reader, Scalar, Style, Value, ValueChange, plain_time};

/// Sets a key of a mapping to a text. An equal value keeps its origin.
pub(crate) fn set_text_entry(map: &Node, key: &str, key_span: &Span, value: &Node) -> Node {
    let Some(text) = value.shared_text() else { return map.clone() };
    let by = ChangedBy::Field(value.span().clone());
    match map.entry(key) {
        Some(entry) if entry.node.resolve(Reader::Kustomize) == Some(Scalar::String(&text)) => map.clone(),
        Some(entry) => map.with(entry.with_node(entry.node.changed(Value::Scalar(text, string_style(value)), by))),
        None => map.with(Entry::new(key, key_span, new_value(Value::Scalar(text, string_style(value)), by))),
    }
}

/// A value that a build step creates.
pub(crate) fn new_value(value: Value, by: ChangedBy) -> Node {
    Node { value, origin: Origin::Via(Arc::new(ValueChange::new(by, None, Box::default()))) }
}

/// A style that keeps a value a string, regardless of the text.
pub(crate) fn string_style(value: &Node) -> Style {
    match &value.value {
        Value::Scalar(_, style) if *style != Style::Plain => *style,
        _ => Style::Double,
    }
}

/// A string with a new text; it stays plain if possible.
pub(crate) fn with_text(node: &Node, text: &str, by: ChangedBy) -> Node {
    let style = match &node.value {
        Value::Scalar(_, Style::Plain) => Style::Plain,
        _ => string_style(node),
    };
    let plain = Node::scalar(text, style, node.span().clone());
    let style = match plain.resolve(Reader::Kubernetes) {
        Some(Scalar::String(_)) => style,
        _ => Style::Double,
    };
    node.changed(Value::Scalar(text.into(), style), by)
}

/// Returns whether a scalar is a string, and stays a string when kustomize reads its output. A plain date becomes a
/// time.
pub(crate) fn is_string(node: &Node) -> bool {
    match (node.resolve(Reader::Kubernetes), &node.value) {
        (Some(Scalar::String(text)), Value::Scalar(_, Style::Plain)) => plain_time(text, false).is_none(),
        (Some(Scalar::String(_)), _) => true,
        _ => false,
    }
}

/// Converts a value of labels or annotations to a string, as kustomize does.
pub(crate) fn to_string_value(node: &Node) -> Node {
    match &node.value {
        Value::Scalar(..) if is_string(node) => node.clone(),
        Value::Scalar(text, _) => {
            Node { value: Value::Scalar(text.clone(), Style::Double), origin: node.origin.clone() }
        }
        Value::Seq(_) | Value::Map(_) => {
            Node { value: Value::Scalar("".into(), Style::Double), origin: node.origin.clone() }
        }
    }
}
