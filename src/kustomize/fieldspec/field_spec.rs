//! Field specs: the fields of kinds that a transformer changes.

use std::sync::Arc;

use crate::kustomize::objects::resources::ResourceId;
use crate::text::Span;
use crate::yaml::{Entry, Name, Node, Value};

/// A group, version and kind that selects objects; an empty part matches anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Gvk {
    pub(crate) group: Name,
    pub(crate) version: Name,
    pub(crate) kind: Name,
}

impl Gvk {
    /// Creates a selector; an empty part matches anything.
    pub(crate) fn new(group: &str, version: &str, kind: &str) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Returns whether the selector selects an object.
    pub(crate) fn selects(&self, id: &ResourceId) -> bool {
        self.matches_parts(&id.group, &id.version, &id.kind)
    }

    /// Returns whether the selector selects everything that the other selector selects.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.matches_parts(&other.group, &other.version, &other.kind)
    }

    fn matches_parts(&self, group: &str, version: &str, kind: &str) -> bool {
        let same = |expected: &str, actual: &str| expected.is_empty() || expected == actual;
        same(&self.group, group) && same(&self.version, version) && same(&self.kind, kind)
    }
}

/// A path in objects of some kinds.
#[derive(Debug, Clone)]
pub(crate) struct FieldSpec {
    pub(crate) gvk: Gvk,
    /// Keys separated by `/`, with a backslash as escape. `[]` after a key marks a list.
    pub(crate) path: Name,
    /// Whether missing fields are created.
    pub(crate) create: bool,
    /// The position, if a user wrote the field spec.
    pub(crate) span: Option<Span>,
    keys: Arc<[Name]>,
}

/// The kind of node that a transformer creates for a missing field, with its position.
#[derive(Clone, Copy)]
pub(crate) enum CreateKind<'a> {
    /// No node, regardless of the field spec.
    Nothing,
    /// A scalar: `change` gets `None`.
    Scalar(&'a Span),
    /// A mapping: `change` gets an empty mapping.
    Map(&'a Span),
}

/// A field that a transformer cannot change, and the reason.
#[derive(Debug)]
pub(crate) struct FieldError {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// The change of the node at a path; `None` keeps the node.
type Change<'c> = dyn FnMut(Option<&Node>) -> Result<Option<Node>, FieldError> + 'c;

impl FieldSpec {
    /// Creates a field spec without a position.
    pub(crate) fn new(gvk: Gvk, path: impl Into<Name>, create: bool) -> Self {
        let path = path.into();
        let keys = split_path(&path, '/').into_iter().map(Name::from).collect();
        Self { gvk, path, create, span: None, keys }
    }

    /// The number of keys of the path.
    pub(crate) fn depth(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether the field spec applies to an object.
    pub(crate) fn matches(&self, id: &ResourceId) -> bool {
        self.gvk.selects(id)
    }

    /// Applies `change` to all nodes at the path, and returns the changed node; `None` if nothing changes.
    ///
    /// Visits all items of lists on the path. A scalar in the middle of the path is an error, as in kustomize.
    pub(crate) fn apply(
        &self,
        node: &Node,
        create_kind: CreateKind<'_>,
        change: &mut Change<'_>,
    ) -> Result<Option<Node>, FieldError> {
        let create_kind = if self.create { create_kind } else { CreateKind::Nothing };
        apply_at(node, &self.keys, create_kind, change).map_err(|error| match &self.span {
            // An error in the path belongs to the position where a user wrote the path.
            Some(span) if self.keys.iter().any(|key| is_special_segment(list_key(key).0)) => {
                FieldError { span: span.clone(), ..error }
            }
            _ => error,
        })
    }
}

fn apply_at(
    node: &Node,
    keys: &[Name],
    create_kind: CreateKind<'_>,
    change: &mut Change<'_>,
) -> Result<Option<Node>, FieldError> {
    let Some((first, rest)) = keys.split_first() else { return change(Some(node)) };
    match &node.value {
        _ if node.is_null() => Ok(None),
        Value::Seq(items) => each_item(node, items, |item| apply_at(item, keys, create_kind, change)),
        Value::Map(_) => apply_to_entry(node, first, rest, create_kind, change),
        Value::Scalar(..) => {
            // The message is equal for all paths, so that findings for one value are merged.
            let message =
                "kustomize fails because this is a scalar, but a field spec expects a mapping here".to_string();
            Err(FieldError { span: node.span().clone(), message })
        }
    }
}

/// The list with changed items; `None` if no item changes.
pub(crate) fn each_item(
    node: &Node,
    items: &[Node],
    mut change: impl FnMut(&Node) -> Result<Option<Node>, FieldError>,
) -> Result<Option<Node>, FieldError> {
    let mut changed: Option<Vec<Node>> = None;
    for (index, item) in items.iter().enumerate() {
        if let Some(new) = change(item)? {
            changed.get_or_insert_with(|| items.to_vec())[index] = new;
        }
    }
    Ok(changed.map(|items| Node { value: Value::Seq(items.into()), origin: node.origin.clone() }))
}

fn apply_to_entry(
    node: &Node,
    first: &str,
    rest: &[Name],
    create_kind: CreateKind<'_>,
    change: &mut Change<'_>,
) -> Result<Option<Node>, FieldError> {
    let (key, is_list) = list_key(first);
    if is_special_segment(key) {
        let message = match key {
            "" => "kustomize fails because the path has an empty segment".to_owned(),
            _ => format!("kustomize fails because `{key}` in a path selects an item of a list, but this is a mapping"),
        };
        return Err(FieldError { span: node.span().clone(), message });
    }
    let entry = node.entry(key);
    let new_span = match create_kind {
        CreateKind::Scalar(span) | CreateKind::Map(span) if !is_list => Some(span),
        CreateKind::Nothing | CreateKind::Scalar(_) | CreateKind::Map(_) => None,
    };
    let child = match (entry, new_span) {
        (Some(entry), _) if !entry.node.is_null() => apply_at(&entry.node, rest, create_kind, change)?,
        // A null becomes an empty list.
        (Some(entry), None) if is_list => {
            let empty = Node { value: Value::Seq([].into()), origin: entry.node.origin.clone() };
            Some(apply_at(&empty, rest, create_kind, change)?.unwrap_or(empty))
        }
        (Some(entry), None) => apply_at(&entry.node, rest, create_kind, change)?,
        (None, None) => None,
        (_, Some(_)) if rest.is_empty() && matches!(create_kind, CreateKind::Scalar(_)) => change(None)?,
        (_, Some(span)) => apply_at(&Node::at(Value::Map([].into()), span.clone()), rest, create_kind, change)?,
    };
    Ok(child.map(|child| match (entry, new_span) {
        (Some(entry), _) if !entry.node.is_null() || new_span.is_none() => node.with(entry.with_node(child)),
        (_, Some(span)) => node.with(Entry::new(key, span, child)),
        (_, None) => node.clone(),
    }))
}

/// A key of a path, and whether the path marks it as a list.
fn list_key(key: &str) -> (&str, bool) {
    key.strip_suffix("[]").map_or((key, false), |key| (key, true))
}

/// Returns whether kustomize does not treat a segment as a mapping key.
fn is_special_segment(part: &str) -> bool {
    matches!(part, "" | "*" | "-") || (part.starts_with('[') && part.ends_with(']')) || part.parse::<i64>().is_ok()
}

/// The keys of a path. A backslash escapes a separator, and a leading separator is removed.
pub(crate) fn split_path(path: &str, separator: char) -> Vec<String> {
    let path = path.strip_prefix(separator).unwrap_or(path);
    let mut keys: Vec<String> = Vec::new();
    for piece in path.split(separator) {
        match keys.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(separator);
                last.push_str(piece);
            }
            _ => keys.push(piece.to_string()),
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_keeps_a_slash_in_a_key() {
        assert_eq!(split_path(r"metadata/annotations/a.io\/b", '/'), ["metadata", "annotations", "a.io/b"]);
        assert_eq!(split_path("/a/b", '/'), ["a", "b"]);
    }
}
