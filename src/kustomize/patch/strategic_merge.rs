//! Strategic merge: a patch laid over an object, as kustomize does it.
//!
//! Subtrees that the patch does not touch keep their `Arc`. What the patch replaces remembers where it was; what it
//! adds keeps its place in the patch. The whole object is walked, since kustomize tidies what it walks: fields without
//! a value are dropped (an explicit `null` stays), and lists with merge keys lose what their keys cannot tell apart.

use std::collections::BTreeMap;

use super::merge_lists;
use super::merge_step::{DIRECTIVE, Directive, Mismatch, Patch, Walked, read_directive};
use crate::kustomize::schema::field_comment::hides_schema;
use crate::kustomize::schema::merge_keys::{ListMerge, Type};
use crate::yaml::{Entry, Node, Style, Value};

/// The object with the patch laid over it; `None` when the patch deletes it.
pub(crate) fn merge(object: &Node, patch: &Node, kind: Type<'_>) -> Result<Option<Node>, Mismatch> {
    Ok(match walk(Some(object), Patch::By(patch), kind, ListMerge::Replace)? {
        Walked::Kept => Some(object.clone()),
        Walked::Changed(node) | Walked::Taken(node) => Some(node),
        Walked::Gone => None,
    })
}

fn present(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| !node.is_null())
}

/// Lays a patch over a node. `kind` is the type of a mapping, or of a list's items, and `list` how a list merges.
pub(crate) fn walk(
    old: Option<&Node>,
    patch: Patch<'_>,
    kind: Type<'_>,
    list: ListMerge<'_>,
) -> Result<Walked, Mismatch> {
    let new = patch.node(old);
    let Some(shape) = present(old).or(present(new)) else {
        // A null that is written out stays unless the patch has one too; a value that is not there goes.
        let written = old.is_some_and(|old| old.text().is_some_and(|text| !text.is_empty()));
        return Ok(if new.is_none() && written { Walked::Kept } else { Walked::Gone });
    };
    if let (Some(old), Some(new)) = (present(old), present(new))
        && std::mem::discriminant(&old.value) != std::mem::discriminant(&new.value)
    {
        let message = format!("the patch has {} where the object has {}", describe(new), describe(old));
        return Err(Mismatch { patch: new.clone(), message });
    }
    match &shape.value {
        Value::Map(_) => walk_map(old, patch, kind),
        Value::Seq(_) if list != ListMerge::Replace => {
            merge_lists::walk(old, patch, list, &|old, patch| walk(old, patch, kind, ListMerge::Replace))
        }
        Value::Seq(_) | Value::Scalar(..) => Ok(match (patch, new) {
            (Patch::Absent | Patch::Itself, _) | (_, None) => Walked::Kept,
            (Patch::By(_), Some(new)) if new.is_null() => Walked::Gone,
            (Patch::By(_), Some(new)) => Walked::taken(old, quoted_as(old, new)),
        }),
    }
}

/// A value of the patch in the style of the object's: what was quoted stays quoted, and so a string.
fn quoted_as(old: Option<&Node>, new: &Node) -> Node {
    match (old.map(|old| &old.value), &new.value) {
        (Some(Value::Scalar(_, style)), Value::Scalar(text, Style::Plain)) if *style != Style::Plain => {
            Node { value: Value::Scalar(text.clone(), *style), origin: new.origin.clone() }
        }
        _ => new.clone(),
    }
}

fn describe(node: &Node) -> &'static str {
    match node.value {
        Value::Scalar(..) => "a single value",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

fn walk_map(old: Option<&Node>, patch: Patch<'_>, kind: Type<'_>) -> Result<Walked, Mismatch> {
    let new = patch.node(old);
    let said = new.and_then(|new| new.get(DIRECTIVE)).filter(|_| !matches!(patch, Patch::Absent));
    if present(old).is_none() {
        let Some(new) = new else { return Ok(Walked::Gone) };
        // A directive that nobody knows says nothing where there is nothing to patch.
        let known = said.map(read_directive).transpose().ok().flatten();
        if known == Some(Directive::Delete) {
            return Ok(Walked::Gone);
        }
        return Ok(Walked::taken(old, take(new, kind)?));
    }
    if new.is_some_and(Node::is_null) {
        return Ok(Walked::Gone);
    }
    match (said.map(read_directive).transpose()?, new, old) {
        (Some(Directive::Delete), ..) => Ok(Walked::Gone),
        (Some(Directive::Replace), Some(new), _) if matches!(patch, Patch::By(_)) => {
            Ok(Walked::taken(old, take(new, kind)?))
        }
        (_, _, Some(old)) => walk_fields(old, patch, kind),
        (_, _, None) => unreachable!("a mapping that is not there was taken from the patch"),
    }
}

/// A mapping of the patch that stands in the object now: without its nulls, and with its directives carried out.
fn take(new: &Node, kind: Type<'_>) -> Result<Node, Mismatch> {
    Ok(match walk_fields(new, Patch::Itself, kind)? {
        Walked::Changed(node) => node,
        Walked::Kept | Walked::Taken(_) | Walked::Gone => new.clone(),
    })
}

/// The entries of a mapping by key, for look-ups of all keys of another one.
struct Keys<'a> {
    entries: &'a [Entry],
    sorted: BTreeMap<&'a str, &'a Entry>,
}

impl<'a> Keys<'a> {
    /// Mappings of so few entries are searched faster than they are sorted.
    const FEW: usize = 16;

    fn of(node: &'a Node) -> Self {
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

fn walk_fields(old: &Node, patch: Patch<'_>, kind: Type<'_>) -> Result<Walked, Mismatch> {
    let kind = kind.or_of_object(old, patch.node(Some(old)));
    let mut changed: Option<Vec<Option<Entry>>> = None;
    let entries = old.entries();
    let laid = match patch {
        Patch::By(patch) => Some((patch, Keys::of(patch))),
        Patch::Absent | Patch::Itself => None,
    };
    let mut set = |at: usize, entry: Option<Entry>| {
        let all = changed.get_or_insert_with(|| entries.iter().cloned().map(Some).collect());
        if let Some(place) = all.get_mut(at) {
            *place = entry;
        }
    };
    for (at, entry) in entries.iter().enumerate() {
        let laid_over = laid.as_ref().and_then(|(_, keys)| keys.get(&entry.key));
        let below = match (&laid, patch) {
            (Some(_), _) => laid_over.map_or(Patch::Absent, |entry| Patch::By(&entry.node)),
            (None, Patch::Itself) if &*entry.key == DIRECTIVE => {
                set(at, None);
                continue;
            }
            (None, patch) => patch,
        };
        let (child, list) = field_of(kind, entry, laid_over);
        match walk(Some(&entry.node), below, child, list)? {
            Walked::Kept => {}
            Walked::Changed(node) | Walked::Taken(node) => set(at, Some(entry.with_node(node))),
            Walked::Gone => set(at, None),
        }
    }
    let mut added = Vec::new();
    if let Some((patch, _)) = &laid {
        let known = Keys::of(old);
        for entry in patch.entries().iter().filter(|entry| &*entry.key != DIRECTIVE && known.get(&entry.key).is_none())
        {
            let (child, list) = field_of(kind, entry, None);
            if let Walked::Changed(node) | Walked::Taken(node) = walk(None, Patch::By(&entry.node), child, list)? {
                added.push(entry.with_node(node));
            }
        }
    }
    if changed.is_none() && added.is_empty() {
        return Ok(Walked::Kept);
    }
    let kept = match changed {
        Some(changed) => changed.into_iter().flatten().collect(),
        None => entries.to_vec(),
    };
    let all = kept.into_iter().chain(added).collect();
    Ok(Walked::Changed(Node { value: Value::Map(all), origin: old.origin.clone() }))
}

/// The type of a field's value and how it merges when it is a list, unless a comment hides it.
fn field_of<'a>(kind: Type<'a>, entry: &Entry, other: Option<&Entry>) -> (Type<'a>, ListMerge<'a>) {
    let is_known = !matches!(kind, Type::Unknown(_));
    let is_hidden = is_known && (hides_schema(entry) || other.is_some_and(hides_schema));
    if is_hidden { (Type::Unknown(None), ListMerge::Replace) } else { kind.field(&entry.key) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::File;
    use crate::yaml::Origin;
    use crate::yaml::parse;

    fn node(path: &str, text: &str) -> Node {
        parse(&File::new(path, text)).documents[0].node.clone()
    }

    #[test]
    fn untouched_subtrees_are_shared_and_changed_values_remember_their_places() {
        let base = node("base.yaml", "spec:\n  keep: {a: 1}\n  size: 1\n");
        let patch = node("patch.yaml", "spec:\n  size: 2\n  added: {b: 1}\n");
        let Ok(Some(merged)) = merge(&base, &patch, Type::Unknown(None)) else { panic!("it fits") };
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
