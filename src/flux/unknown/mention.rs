//! Names of objects in other names, in texts and in values.

use crate::yaml::{Node, Value};

/// Words that the names of unrelated projects share.
const COMMON_WORDS: [&str; 12] =
    ["com", "controller", "crd", "crds", "default", "github", "https", "io", "k8s", "operator", "raw", "system"];

/// Returns whether a word of one name starts with a word of the other name.
pub(super) fn share_word(one: &str, other: &str) -> bool {
    let starts = |text: &str, start: &str| text.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start));
    words(one).any(|a| words(other).any(|b| starts(a, b) || starts(b, a)))
}

/// The words of a name that may relate it to another name.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    let is_common = |word: &str| COMMON_WORDS.iter().any(|common| word.eq_ignore_ascii_case(common));
    // The number of one item of a series says nothing about the other items with that number.
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let all = name.split(|c: char| !c.is_ascii_alphanumeric());
    all.filter(move |word| word.len() >= 3 && !is_common(word) && !is_number(word))
}

/// Returns whether a text or a key of a node is or contains a name.
pub(super) fn mentions(node: &Node, word: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => has_name(text, word),
        Value::Seq(items) => items.iter().any(|item| mentions(item, word)),
        // The keys of some maps are names of objects.
        Value::Map(entries) => entries.iter().any(|entry| *entry.key == *word || mentions(&entry.node, word)),
    }
}

/// Returns whether a text or a key of a node contains a text.
pub(super) fn contains(node: &Node, part: &str) -> bool {
    match &node.value {
        Value::Scalar(text, _) => text.contains(part),
        Value::Seq(items) => items.iter().any(|item| contains(item, part)),
        Value::Map(entries) => entries.iter().any(|entry| entry.key.contains(part) || contains(&entry.node, part)),
    }
}

/// Returns whether a text or a key contains a kind in lower case.
pub(super) fn mentions_kind(node: &Node, kind: &str) -> bool {
    let contains = |text: &str| text.to_ascii_lowercase().contains(kind);
    match &node.value {
        Value::Scalar(text, _) => contains(text),
        Value::Seq(items) => items.iter().any(|item| mentions_kind(item, kind)),
        Value::Map(entries) => entries.iter().any(|entry| contains(&entry.key) || mentions_kind(&entry.node, kind)),
    }
}

/// Returns whether a text contains a whole word: `RoleBinding` does not contain `Role`.
pub fn has_word(text: &str, word: &str) -> bool {
    contains_between(text, word, |c| !c.is_ascii_alphanumeric())
}

/// Returns whether a text contains a whole name: neither `web-server` nor the host `web.shop.svc` contains `web`.
fn has_name(text: &str, name: &str) -> bool {
    contains_between(text, name, |c| !is_of_name(c))
}

/// Returns whether a character is part of a name.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.')
}

/// Returns whether a text contains a part with a boundary before and after it.
fn contains_between(text: &str, part: &str, is_boundary: impl Fn(char) -> bool) -> bool {
    let is_boundary = |c: Option<char>| c.is_none_or(&is_boundary);
    !part.is_empty()
        && text.match_indices(part).any(|(at, _)| {
            let (before, after) = (text.get(..at), text.get(at + part.len()..));
            is_boundary(before.and_then(|text| text.chars().next_back()))
                && is_boundary(after.and_then(|text| text.chars().next()))
        })
}
