//! The path of a field during validation, without an allocation for each field.

use std::fmt::Write as _;

use crate::text::Span;
use crate::yaml::{Entry, Node};

/// A field, with its parents.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root(&'a Node),
    Entry(&'a Entry),
    Item(usize, &'a Node),
}

impl<'a> Path<'a> {
    /// The path of the whole object.
    pub(super) fn root(node: &'a Node) -> Self {
        Self { parent: None, step: Step::Root(node), depth: 0 }
    }

    pub(super) fn entry(&'a self, entry: &'a Entry) -> Self {
        Self { parent: Some(self), step: Step::Entry(entry), depth: self.depth + 1 }
    }

    pub(super) fn item(&'a self, index: usize, node: &'a Node) -> Self {
        Self { parent: Some(self), step: Step::Item(index, node), depth: self.depth + 1 }
    }

    /// Returns whether this is an item of a list.
    pub(super) fn is_item(&self) -> bool {
        matches!(self.step, Step::Item(..))
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The position of the key, or of the item.
    pub(super) fn key_span(&self) -> Span {
        match self.step {
            Step::Root(node) => node.get("kind").unwrap_or(node).span().clone(),
            Step::Entry(entry) => entry.key_span(),
            Step::Item(_, node) => node.span().clone(),
        }
    }

    /// The path as text; empty for the whole object.
    pub(super) fn text(&self) -> String {
        let mut steps = Vec::with_capacity(self.depth);
        let mut next = Some(self);
        while let Some(path) = next {
            steps.push(path.step);
            next = path.parent;
        }
        let mut text = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Root(_) => {}
                Step::Entry(entry) if is_plain(&entry.key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&entry.key);
                }
                Step::Entry(entry) => _ = write!(text, "[{:?}]", &*entry.key),
                Step::Item(index, _) => _ = write!(text, "[{index}]"),
            }
        }
        text
    }

    /// The path of a field below this one.
    pub(super) fn text_of(&self, field: &str) -> String {
        let text = self.text();
        if text.is_empty() { field.to_owned() } else { format!("{text}.{field}") }
    }
}

/// Returns whether a key is written without brackets in a path.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}
