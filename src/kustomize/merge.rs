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

/// Merges items with equal keys.
///
/// Where one key tells items apart, the patch's items come first, in its order. Where several do (ports by number and
/// protocol), what only the patch has comes first and the object's items keep their order; and an item of the patch
/// that gives other keys than the object's item of the same number is lost, as in kustomize 5.8.
fn merge_by_keys(old: &Node, patch: &Node, kind: Type, keys: &[&str]) -> Result<Node, Mismatch> {
    let items = || old.items().iter().chain(patch.items());
    let used: Vec<&str> = keys.iter().copied().filter(|key| items().any(|item| key_of(item, key).is_some())).collect();
    let mut kept: Vec<Option<Node>> = old.items().iter().cloned().map(Some).collect();
    let mut first: Vec<Node> = Vec::with_capacity(patch.items().len());
    for item in patch.items().iter().filter(|item| !is_list_directive(item)) {
        let equal = |old: &Node| used.iter().all(|key| key_of(old, key) == key_of(item, key));
        let same = kept.iter().position(|old| old.as_ref().is_some_and(equal)).filter(|_| !used.is_empty());
        match same.and_then(|at| Some((at, kept[at].take()?))) {
            Some((at, old)) if used.len() > 1 => kept[at] = merge_node(&old, item, kind, ListMerge::Replace)?,
            Some((_, old)) => first.extend(merge_node(&old, item, kind, ListMerge::Replace)?),
            None if used.len() > 1 && kept.iter().flatten().any(|old| overlap(old, item, &used)) => {}
            None => first.extend(added(item, kind, ListMerge::Replace)),
        }
    }
    first.extend(kept.into_iter().flatten());
    Ok(Node { value: Value::Seq(first.into()), origin: old.origin.clone() })
}

fn key_of<'a>(item: &'a Node, key: &str) -> Option<&'a str> {
    item.get(key).and_then(Node::text).filter(|text| !text.is_empty())
}

/// Tells whether two items have a key in common and none that differs, though not the same keys.
fn overlap(old: &Node, patch: &Node, keys: &[&str]) -> bool {
    let pairs = || keys.iter().map(|key| (key_of(old, key), key_of(patch, key)));
    pairs().any(|(a, b)| a.is_some() && a == b) && pairs().all(|(a, b)| a == b || a.is_none() || b.is_none())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::File;
    use crate::yaml::{Origin, parse};

    fn node(path: &str, text: &str) -> Node {
        parse(&File::new(path, text)).documents[0].node.clone()
    }

    #[test]
    fn untouched_subtrees_are_shared_and_changed_values_remember_their_places() {
        let base = node("base.yaml", "spec:\n  keep: {a: 1}\n  size: 1\n");
        let patch = node("patch.yaml", "spec:\n  size: 2\n  added: {b: 1}\n");
        let Ok(Some(merged)) = merge(&base, &patch, Type::UNKNOWN) else { panic!("it fits") };
        let map = |node: &Node| match node.at_keys(&["spec", "keep"]).map(|node| node.value.clone()) {
            Some(Value::Map(entries)) => entries,
            _ => panic!("a mapping"),
        };
        assert!(Arc::ptr_eq(&map(&base), &map(&merged)));
        let size = merged.at_keys(&["spec", "size"]).unwrap();
        assert_eq!((size.span().file().path(), size.span().text()), ("patch.yaml", "2"));
        assert_eq!(size.origin.written().file().path(), "base.yaml");
        let added = merged.at_keys(&["spec"]).unwrap().entry("added").unwrap();
        assert!(matches!(added.node.origin, Origin::At(_)));
        assert_eq!((added.key_span().file().path(), added.key_span().text()), ("patch.yaml", "added"));
    }
}
