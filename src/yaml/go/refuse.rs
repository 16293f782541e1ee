//! What kustomize cannot print.

use super::fold::is_block;
use crate::text::Span;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::scalar::timestamp::rfc3339;
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// A key of JSON that is longer, in bytes, is no key to the reader.
const MAX_KEY: usize = 1024;

/// Why kustomize fails to print an object that it has built, and where the reason stands; `None` when it prints it.
pub fn print_error(node: &Node) -> Option<(Span, &'static str)> {
    match &node.value {
        Value::Scalar(text, style) => scalar_error(node, text, *style).map(|reason| (node.span().clone(), reason)),
        Value::Seq(items) => items.iter().find_map(nested_error),
        // Of the object's own keys the reader wants the text only.
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
        // What a field such as `labels` has added is a string, however it is written there.
        (typed && entry.is_plain()).then(|| entry.key_span()).filter(own)
    };
    let reason = "JSON has no key that is no string";
    entries.iter().find_map(|entry| {
        let found = typed(entry).map(|span| (span, reason));
        found.or_else(|| key_error(entry)).or_else(|| nested_error(&entry.node))
    })
}

fn key_error(entry: &Entry) -> Option<(Span, &'static str)> {
    let reason = if entry.key.len() > MAX_KEY {
        Some("the key is too long")
    } else if !entry.key.is_ascii() && entry.key.contains('\u{85}') {
        Some("the key has a line break")
    } else {
        character_error(&entry.key)
    };
    reason.map(|reason| (entry.key_span(), reason))
}

fn scalar_error(node: &Node, text: &str, style: Style) -> Option<&'static str> {
    match node.resolve(Reader::Kustomize) {
        Some(Scalar::Float(value)) if !value.is_finite() => Some("JSON has no infinite number and no NaN"),
        // kustomize writes it as it found it, and cannot read that: no indentation is said.
        _ if text.starts_with('\t') && matches!(style, Style::Literal | Style::Folded) && is_block(text) => {
            Some("a block cannot begin with a tab")
        }
        _ => character_error(text),
    }
}

fn is_date(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && rfc3339(text).is_some()
}

fn character_error(text: &str) -> Option<&'static str> {
    // No byte below is part of such a character. All are counted, since looking for the first one takes longer.
    if text.bytes().filter(|byte| *byte >= 0x7F).count() == 0 {
        return None;
    }
    let refused = |c| matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    text.contains(refused).then_some("it has a character that YAML does not allow")
}
