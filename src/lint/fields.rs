//! Fields of objects, read as the API server reads them.

use crate::yaml::{Node, Reader, Scalar, Style, Value};

/// The text of a field, if it is set and not empty.
pub(crate) fn text_of<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).filter(|node| !node.is_null()).and_then(Node::text).filter(|text| !text.is_empty())
}

/// The text of a scalar, if it is not empty and does not depend on a value that only the cluster knows.
pub(crate) fn known_text(node: &Node) -> Option<&str> {
    let Value::Scalar(text, style) = &node.value else { return None };
    (*style != Style::Unknown && !text.is_empty() && !text.contains("${")).then_some(text.as_str())
}

/// The value of a boolean; `None` for other or unknown values.
pub(crate) fn flag(node: &Node) -> Option<bool> {
    match node.resolve(Reader::Kustomize) {
        Some(Scalar::Bool(value)) => Some(value),
        _ => None,
    }
}

/// Returns whether a node, or a scalar below it, contains a text.
pub(crate) fn mentions(node: &Node, text: &str) -> bool {
    match &node.value {
        Value::Scalar(own, _) => own.contains(text),
        Value::Seq(items) => items.iter().any(|item| mentions(item, text)),
        Value::Map(entries) => entries.iter().any(|entry| mentions(&entry.node, text)),
    }
}
