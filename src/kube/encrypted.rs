//! Values that SOPS encrypted.

use crate::yaml::{Node, Value};

/// Returns whether a text is an encrypted value, as written or as [`unknown_text`].
pub fn is_encrypted_value(text: &str) -> bool {
    let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    let text = inner.unwrap_or(text);
    text.starts_with("ENC[") && text.ends_with(']')
}

/// The text of an encrypted value after the build: that of a value that only the cluster knows, like an undefined variable.
pub fn unknown_text(encrypted: &str) -> String {
    format!("${{{encrypted}}}")
}

/// Returns whether a node, or a scalar below it, is an encrypted value.
pub fn has_encrypted_value(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(text, _) => is_encrypted_value(text),
        Value::Seq(items) => items.iter().any(has_encrypted_value),
        Value::Map(entries) => entries.iter().any(|entry| has_encrypted_value(&entry.node)),
    }
}
