//! Strategic merge: a patch laid over an object, as kustomize does it.
//!
//! Subtrees that the patch does not touch keep their `Arc`. What the patch replaces remembers where it was; what it
//! adds keeps its place in the patch.

use super::merge_keys::{ListMerge, Type};
use crate::yaml::{By, Entry, Node, Value};

/// A place where a patch cannot be laid over the object.
pub(super) struct Mismatch {
    /// The patch's node.
    pub(super) patch: Node,
    pub(super) message: String,
}

/// The object with the patch laid over it; `None` when the patch deletes it.
pub(super) fn merge(object: &Node, patch: &Node, kind: Type) -> Result<Option<Node>, Mismatch> {
    merge_node(object, patch, kind, ListMerge::Replace)
}

fn merge_node(old: &Node, patch: &Node, kind: Type, list: ListMerge) -> Result<Option<Node>, Mismatch> {
    if patch.is_null() {
        return Ok(None);
    }
    if old.is_null() {
        return Ok(added(patch, kind, list).map(|new| old.changed(new.value, By::Patch(patch.span().clone()))));
    }
    match (&old.value, &patch.value) {
        (Value::Map(_), Value::Map(_)) => merge_maps(old, patch, kind),
        (Value::Seq(_), Value::Seq(_)) => Ok(merge_lists(old, patch, kind, list)?),
        (Value::Scalar(..), Value::Scalar(..)) => {
            Ok(Some(old.changed(patch.value.clone(), By::Patch(patch.span().clone()))))
        }
        _ => {
            let message = format!("the patch has {} where the object has {}", shape(patch), shape(old));
            Err(Mismatch { patch: patch.clone(), message })
        }
    }
}

fn shape(node: &Node) -> &'static str {
    match node.value {
        Value::Scalar(..) => "a single value",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

/// What `$patch` says in a mapping of a patch.
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Node) -> Result<Directive, Mismatch> {
    let Some(node) = patch.get("$patch") else { return Ok(Directive::Merge) };
    match node.text() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        other => {
            let message = format!("`$patch: {}` is none of merge, replace and delete", other.unwrap_or_default());
            Err(Mismatch { patch: node.clone(), message })
        }
    }
}

fn merge_maps(old: &Node, patch: &Node, kind: Type) -> Result<Option<Node>, Mismatch> {
    match directive(patch)? {
        Directive::Delete => return Ok(None),
        Directive::Replace => {
            let new = added(&patch.without("$patch"), kind, ListMerge::Replace);
            return Ok(new.map(|new| old.changed(new.value, By::Patch(patch.span().clone()))));
        }
        Directive::Merge => {}
    }
    let mut entries: Vec<Entry> = old.entries().to_vec();
    let mut touched = false;
    for entry in patch.entries().iter().filter(|entry| &*entry.key != "$patch") {
        let (child, list) = kind.field(&entry.key);
        let at = entries.iter().position(|old| old.key == entry.key);
        let Some(at) = at else {
            if let Some(new) = added(&entry.node, child, list) {
                entries.push(entry.with_node(new));
                touched = true;
            }
            continue;
        };
        touched = true;
        let old = &entries[at];
        match merge_node(&old.node, &entry.node, child, list)? {
            Some(new) => entries[at] = old.with_node(new),
            None => {
                entries.remove(at);
            }
        }
    }
    if !touched {
        return Ok(Some(old.clone()));
    }
    Ok(Some(Node { value: Value::Map(entries.into()), origin: old.origin.clone() }))
}

/// What a patch adds where nothing was: without its nulls and directives, which only say what to remove.
fn added(patch: &Node, kind: Type, list: ListMerge) -> Option<Node> {
    match &patch.value {
        _ if patch.is_null() => None,
        Value::Scalar(..) => Some(patch.clone()),
        Value::Map(entries) => {
            if patch.get("$patch").and_then(Node::text) == Some("delete") {
                return None;
            }
            let kept = entries.iter().filter(|entry| &*entry.key != "$patch").filter_map(|entry| {
                let (child, list) = kind.field(&entry.key);
                added(&entry.node, child, list).map(|node| entry.with_node(node))
            });
            Some(Node { value: Value::Map(kept.collect()), origin: patch.origin.clone() })
        }
        Value::Seq(_) if list == ListMerge::Replace => Some(patch.clone()),
        Value::Seq(items) => {
            let kept: Vec<Node> = items
                .iter()
                .filter(|item| !is_list_directive(item))
                .filter_map(|item| added(item, kind, ListMerge::Replace))
                .collect();
            Some(Node { value: Value::Seq(kept.into()), origin: patch.origin.clone() })
        }
    }
}

/// An item that only says what to do with the list: `- $patch: replace`.
fn is_list_directive(item: &Node) -> bool {
    item.entries().len() == 1 && item.get("$patch").is_some()
}

fn merge_lists(old: &Node, patch: &Node, kind: Type, list: ListMerge) -> Result<Option<Node>, Mismatch> {
    let by = By::Patch(patch.span().clone());
    match list {
        ListMerge::Replace => Ok(Some(old.changed(patch.value.clone(), by))),
        ListMerge::Set => {
            let known = |node: &Node| patch.items().iter().any(|item| item.text() == node.text());
            let kept = old.items().iter().filter(|node| !known(node));
            let items: Vec<Node> = patch.items().iter().chain(kept).cloned().collect();
            Ok(Some(Node { value: Value::Seq(items.into()), origin: old.origin.clone() }))
        }
        ListMerge::ByKeys(keys) => {
            let marker = patch.items().iter().find(|item| is_list_directive(item));
            match marker.map(directive).transpose()? {
                Some(Directive::Delete) => return Ok(None),
                Some(Directive::Replace) => {
                    let new = added(patch, kind, list);
                    return Ok(new.map(|new| old.changed(new.value, by)));
                }
                Some(Directive::Merge) | None => {}
            }
            merge_by_keys(old, patch, kind, keys).map(Some)
        }
    }
}

/// Merges items with equal keys. The patch's items come first, in its order: that is where kustomize puts them.
fn merge_by_keys(old: &Node, patch: &Node, kind: Type, keys: &[&str]) -> Result<Node, Mismatch> {
    let mut rest: Vec<Option<&Node>> = old.items().iter().map(Some).collect();
    let mut items: Vec<Node> = Vec::with_capacity(rest.len() + patch.items().len());
    for item in patch.items().iter().filter(|item| !is_list_directive(item)) {
        let same = rest.iter().position(|old| old.is_some_and(|old| same_keys(old, item, keys)));
        match same.and_then(|at| rest[at].take()) {
            Some(old) => items.extend(merge_node(old, item, kind, ListMerge::Replace)?),
            None => items.extend(added(item, kind, ListMerge::Replace)),
        }
    }
    items.extend(rest.into_iter().flatten().cloned());
    Ok(Node { value: Value::Seq(items.into()), origin: old.origin.clone() })
}

/// Tells whether two items are the same one: a key in common, and none that differs. A key that only one of them has
/// does not tell them apart: `containerPort: 80` is `containerPort: 80, protocol: TCP`.
fn same_keys(old: &Node, patch: &Node, keys: &[&str]) -> bool {
    let mut common = false;
    for key in keys {
        let text = |node: &Node| node.get(key).and_then(Node::shared_text).filter(|text| !text.is_empty());
        match (text(old), text(patch)) {
            (Some(a), Some(b)) if a == b => common = true,
            (Some(_), Some(_)) => return false,
            _ => {}
        }
    }
    common
}
