//! What kustomize cannot print.

use crate::text::Span;
use crate::yaml::{Node, Reader, Scalar, Value};

/// A key of JSON that is longer, in bytes, is no key to the reader.
const MAX_KEY: usize = 1024;

/// Why kustomize fails to print an object that it has built, and where the reason stands; `None` when it prints it.
pub fn refusal(node: &Node) -> Option<(Span, &'static str)> {
    match &node.value {
        Value::Scalar(text, _) => {
            let reason = match node.resolve(Reader::Kustomize) {
                Some(Scalar::Float(value)) if !value.is_finite() => Some("JSON has no infinite number and no NaN"),
                _ => control(text),
            };
            reason.map(|reason| (node.span().clone(), reason))
        }
        Value::Seq(items) => items.iter().find_map(refusal),
        Value::Map(entries) => entries.iter().find_map(|entry| {
            let long = (entry.key.len() > MAX_KEY).then_some("the key is too long");
            let reason = long.or_else(|| control(&entry.key)).map(|reason| (entry.key_span(), reason));
            reason.or_else(|| refusal(&entry.node))
        }),
    }
}

fn control(text: &str) -> Option<&'static str> {
    let refused = |c| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    text.contains(refused).then_some("it has a character that YAML does not allow")
}
