//! Strategic merge of a patch into an object, with the behavior of kustomize.
//!
//! Subtrees without changes keep their `Arc`. A replaced value keeps its former origin; added values have the origin of
//! the patch. The merge visits the whole object, because kustomize normalizes it: fields without a value are removed
//! (an explicit `null` stays), and so are list items that their merge keys cannot distinguish.

use std::collections::BTreeMap;

use super::merge_lists;
use super::merge_step::{DIRECTIVE, Directive, MergeError, MergeResult, PatchValue, read_directive};
use crate::kustomize::schema::field_comment::hides_schema;
use crate::kustomize::schema::merge_keys::{ListMerge, SchemaType};
use crate::yaml::{Entry, Node, Style, Value};

/// Merges a patch into an object; `None` if the patch deletes the object.
pub(crate) fn merge(object: &Node, patch: &Node, kind: SchemaType<'_>) -> Result<Option<Node>, MergeError> {
    Ok(match merge_node(Some(object), PatchValue::Node(patch), kind, ListMerge::Replace)? {
        MergeResult::Unchanged => Some(object.clone()),
        MergeResult::Changed(node) | MergeResult::Replaced(node) => Some(node),
        MergeResult::Removed => None,
    })
}

fn present(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| !node.is_null())
}

/// Merges a patch into a node. `kind` is the type of a mapping or of a list's items, and `list` is the merge strategy
/// of a list.
pub(crate) fn merge_node(
    old: Option<&Node>,
    patch: PatchValue<'_>,
    kind: SchemaType<'_>,
    list: ListMerge<'_>,
) -> Result<MergeResult, MergeError> {
    let new = patch.node(old);
    let Some(shape) = present(old).or(present(new)) else {
        // An explicit null stays unless the patch also has null; a field without a value is removed.
        let written = old.is_some_and(|old| old.text().is_some_and(|text| !text.is_empty()));
        return Ok(if new.is_none() && written { MergeResult::Unchanged } else { MergeResult::Removed });
    };
    if let (Some(old), Some(new)) = (present(old), present(new))
        && std::mem::discriminant(&old.value) != std::mem::discriminant(&new.value)
    {
        let message = format!("the patch has {} where the object has {}", describe(new), describe(old));
        return Err(MergeError { patch: new.clone(), message });
    }
    match &shape.value {
        Value::Map(_) => merge_map(old, patch, kind),
        Value::Seq(_) if list != ListMerge::Replace => {
            merge_lists::merge_list(old, patch, list, &|old, patch| merge_node(old, patch, kind, ListMerge::Replace))
        }
        Value::Seq(_) | Value::Scalar(..) => Ok(match (patch, new) {
            (PatchValue::Absent | PatchValue::Own, _) | (_, None) => MergeResult::Unchanged,
            (PatchValue::Node(_), Some(new)) if new.is_null() => MergeResult::Removed,
            (PatchValue::Node(_), Some(new)) => MergeResult::replaced(old, with_quotes_of(old, new)),
        }),
    }
}

/// A value of the patch in the style of the object's value: a quoted value stays a string.
fn with_quotes_of(old: Option<&Node>, new: &Node) -> Node {
    match (old.map(|old| &old.value), &new.value) {
        (Some(Value::Scalar(_, style)), Value::Scalar(text, Style::Plain)) if *style != Style::Plain => {
            Node { value: Value::Scalar(text.clone(), *style), origin: new.origin.clone() }
        }
        _ => new.clone(),
    }
}

fn describe(node: &Node) -> &'static str {
    match node.value {
        Value::Scalar(..) => "a scalar",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

fn merge_map(old: Option<&Node>, patch: PatchValue<'_>, kind: SchemaType<'_>) -> Result<MergeResult, MergeError> {
    let new = patch.node(old);
    let directive = new.and_then(|new| new.get(DIRECTIVE)).filter(|_| !matches!(patch, PatchValue::Absent));
    if present(old).is_none() {
        let Some(new) = new else { return Ok(MergeResult::Removed) };
        // kustomize ignores an invalid directive if the object has no such field.
        let valid = directive.map(read_directive).transpose().ok().flatten();
        if valid == Some(Directive::Delete) {
            return Ok(MergeResult::Removed);
        }
        return Ok(MergeResult::replaced(old, new_mapping(new, kind)?));
    }
    if new.is_some_and(Node::is_null) {
        return Ok(MergeResult::Removed);
    }
    match (directive.map(read_directive).transpose()?, new, old) {
        (Some(Directive::Delete), ..) => Ok(MergeResult::Removed),
        (Some(Directive::Replace), Some(new), _) if matches!(patch, PatchValue::Node(_)) => {
            Ok(MergeResult::replaced(old, new_mapping(new, kind)?))
        }
        (_, _, Some(old)) => merge_fields(old, patch, kind),
        (_, _, None) => unreachable!("a mapping that the object lacks comes from the patch"),
    }
}

/// A mapping that the patch adds: without nulls, and with its directives applied.
fn new_mapping(new: &Node, kind: SchemaType<'_>) -> Result<Node, MergeError> {
    Ok(match merge_fields(new, PatchValue::Own, kind)? {
        MergeResult::Changed(node) => node,
        MergeResult::Unchanged | MergeResult::Replaced(_) | MergeResult::Removed => new.clone(),
    })
}

/// The entries of a mapping by key.
struct EntryIndex<'a> {
    entries: &'a [Entry],
    sorted: BTreeMap<&'a str, &'a Entry>,
}

impl<'a> EntryIndex<'a> {
    /// The size up to which a linear search is faster than sorting.
    const FEW: usize = 16;

    fn new(node: &'a Node) -> Self {
        let entries = node.entries();
        let many = entries.iter().filter(|_| entries.len() > Self::FEW);
        Self { entries, sorted: many.map(|entry| (&*entry.key, entry)).collect() }
    }

    fn get(&self, key: &str) -> Option<&'a Entry> {
        if self.sorted.is_empty() {
            return self.entries.iter().find(|entry| &*entry.key == key);
        }
        self.sorted.get(key).copied()
    }
}

fn merge_fields(old: &Node, patch: PatchValue<'_>, kind: SchemaType<'_>) -> Result<MergeResult, MergeError> {
    let kind = kind.or_for_object(old, patch.node(Some(old)));
    let mut changed: Option<Vec<Option<Entry>>> = None;
    let entries = old.entries();
    let overlay = match patch {
        PatchValue::Node(patch) => Some((patch, EntryIndex::new(patch))),
        PatchValue::Absent | PatchValue::Own => None,
    };
    let mut set = |index: usize, entry: Option<Entry>| {
        let all = changed.get_or_insert_with(|| entries.iter().cloned().map(Some).collect());
        if let Some(slot) = all.get_mut(index) {
            *slot = entry;
        }
    };
    for (index, entry) in entries.iter().enumerate() {
        let patch_entry = overlay.as_ref().and_then(|(_, keys)| keys.get(&entry.key));
        let below = match (&overlay, patch) {
            (Some(_), _) => patch_entry.map_or(PatchValue::Absent, |entry| PatchValue::Node(&entry.node)),
            (None, PatchValue::Own) if &*entry.key == DIRECTIVE => {
                set(index, None);
                continue;
            }
            (None, patch) => patch,
        };
        let (child, list) = field_of(kind, entry, patch_entry);
        match merge_node(Some(&entry.node), below, child, list)? {
            MergeResult::Unchanged => {}
            MergeResult::Changed(node) | MergeResult::Replaced(node) => set(index, Some(entry.with_node(node))),
            MergeResult::Removed => set(index, None),
        }
    }
    let mut added = Vec::new();
    if let Some((patch, _)) = &overlay {
        let existing = EntryIndex::new(old);
        for entry in
            patch.entries().iter().filter(|entry| &*entry.key != DIRECTIVE && existing.get(&entry.key).is_none())
        {
            let (child, list) = field_of(kind, entry, None);
            if let MergeResult::Changed(node) | MergeResult::Replaced(node) =
                merge_node(None, PatchValue::Node(&entry.node), child, list)?
            {
                added.push(entry.with_node(node));
            }
        }
    }
    if changed.is_none() && added.is_empty() {
        return Ok(MergeResult::Unchanged);
    }
    let kept = match changed {
        Some(changed) => changed.into_iter().flatten().collect(),
        None => entries.to_vec(),
    };
    let all = kept.into_iter().chain(added).collect();
    Ok(MergeResult::Changed(Node { value: Value::Map(all), origin: old.origin.clone() }))
}

/// The type and the merge strategy of a field, unless a comment hides its schema.
fn field_of<'a>(kind: SchemaType<'a>, entry: &Entry, other: Option<&Entry>) -> (SchemaType<'a>, ListMerge<'a>) {
    let is_known = !matches!(kind, SchemaType::Unknown(_));
    let is_hidden = is_known && (hides_schema(entry) || other.is_some_and(hides_schema));
    if is_hidden { (SchemaType::Unknown(None), ListMerge::Replace) } else { kind.field(&entry.key) }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::text::File;
    use crate::yaml::Origin;
    use crate::yaml::parse;

    fn node(path: &str, text: &str) -> Node {
        parse(&File::new(path, text)).documents[0].node.clone()
    }

    #[test]
    fn unchanged_subtrees_are_shared_and_changed_values_keep_their_origins() {
        let base = node("base.yaml", "spec:\n  keep: {a: 1}\n  size: 1\n");
        let patch = node("patch.yaml", "spec:\n  size: 2\n  added: {b: 1}\n");
        let Ok(Some(merged)) = merge(&base, &patch, SchemaType::Unknown(None)) else { panic!("it fits") };
        let map = |node: &Node| match node.at_keys(&["spec", "keep"]).map(|node| node.value.clone()) {
            Some(Value::Map(entries)) => entries,
            _ => panic!("a mapping"),
        };
        assert!(map(&base).is_same(&map(&merged)));
        let size = merged.at_keys(&["spec", "size"]).unwrap();
        assert_eq!((size.span().file().path(), size.span().text()), ("patch.yaml", "2"));
        assert_eq!(size.origin.written().file().path(), "base.yaml");
        let added = merged.at_keys(&["spec"]).unwrap().entry("added").unwrap();
        assert!(matches!(added.node.origin, Origin::At(_)));
        assert_eq!((added.key_span().file().path(), added.key_span().text()), ("patch.yaml", "added"));
    }
}
