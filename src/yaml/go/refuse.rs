//! Objects that kustomize cannot print.

use super::fold::is_block;
use crate::text::Span;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::scalar::timestamp::rfc3339;
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// The length of the longest JSON key, in bytes, that the YAML reader accepts.
const MAX_KEY: usize = 1024;

/// The position and the reason of kustomize's failure to print a built object; `None` if kustomize prints the object.
pub fn print_error(node: &Node) -> Option<(Span, &'static str)> {
    match &node.value {
        Value::Scalar(text, style) => scalar_error(node, text, *style).map(|reason| (node.span().clone(), reason)),
        Value::Seq(items) => items.iter().find_map(nested_error),
        // The reader accepts the object's own keys regardless of their type.
        Value::Map(entries) => entries.iter().find_map(|entry| key_error(entry).or_else(|| nested_error(&entry.node))),
    }
}

fn nested_error(node: &Node) -> Option<(Span, &'static str)> {
    let Value::Map(entries) = &node.value else { return print_error(node) };
    let own = |key: &Span| {
        let map = node.origin.written();
        map.file() == key.file() && map.range().start <= key.range().start && key.range().end <= map.range().end
    };
    let typed = |entry: &Entry| {
        let typed = resolve_plain(&entry.key, Reader::Kustomize) != Scalar::String(&entry.key) || is_date(&entry.key);
        // A key that a field such as `labels` adds is a string, regardless of its style.
        (typed && entry.is_plain()).then(|| entry.key_span()).filter(own)
    };
    let reason = "a key is not a string, which JSON does not allow";
    entries.iter().find_map(|entry| {
        let found = typed(entry).map(|span| (span, reason));
        found.or_else(|| key_error(entry)).or_else(|| nested_error(&entry.node))
    })
}

fn key_error(entry: &Entry) -> Option<(Span, &'static str)> {
    let reason = if entry.key.len() > MAX_KEY {
        Some("the key is too long")
    } else if !entry.key.is_ascii() && entry.key.contains('\u{85}') {
        Some("the key contains a line break")
    } else {
        character_error(&entry.key)
    };
    reason.map(|reason| (entry.key_span(), reason))
}

fn scalar_error(node: &Node, text: &str, style: Style) -> Option<&'static str> {
    match node.resolve(Reader::Kustomize) {
        Some(Scalar::Float(value)) if !value.is_finite() => Some("JSON has neither infinite numbers nor NaN"),
        // kustomize keeps the block style, but writes no indentation indicator, and cannot read the block again.
        _ if text.starts_with('\t') && matches!(style, Style::Literal | Style::Folded) && is_block(text) => {
            Some("a block scalar cannot start with a tab")
        }
        _ => character_error(text),
    }
}

fn is_date(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && rfc3339(text).is_some()
}

fn character_error(text: &str) -> Option<&'static str> {
    // No byte below 0x7F is part of such a character. Counting all bytes is faster than a search for the
    // first such byte.
    if text.bytes().filter(|byte| *byte >= 0x7F).count() == 0 {
        return None;
    }
    let refused = |c| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    text.contains(refused).then_some("it contains a character that YAML does not allow")
}
