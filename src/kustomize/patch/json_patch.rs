//! JSON patches (RFC 6902), with the behavior of evanphx/json-patch, which kustomize uses.

use std::cell::Cell;

use crate::kustomize::text::reprint::with_times;
use crate::kustomize::text::size_limits::{self, MAX_STEPS};
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Node, Reader, Scalar, Style, Value, plain_time, to_json};

/// An operation of a patch.
pub(crate) struct Operation {
    action: Action,
    /// The position of `path`, for errors and for the keys that the operation creates.
    pub(crate) span: Span,
    path: Vec<String>,
}

enum Action {
    Add(Node),
    Replace(Node),
    Remove,
    Test(Node),
    Move(Vec<String>),
    Copy(Vec<String>),
}

/// The position of an error in a patch, and the reason.
pub(crate) type PatchError = (Span, String);

/// Reads the operations of a patch: a list of mappings with `op` and `path`.
pub(crate) fn read(patch: &Node) -> Result<Vec<Operation>, PatchError> {
    patch.items().iter().map(read_one).collect()
}

fn read_one(node: &Node) -> Result<Operation, PatchError> {
    let missing = |field: &str| (node.span().clone(), format!("this operation has no `{field}`"));
    let operation = node.get("op").ok_or_else(|| missing("op"))?;
    let path = node.get("path").ok_or_else(|| missing("path"))?;
    // A missing value is null.
    let value =
        || node.get("value").map_or_else(|| Node::scalar("null", Style::Plain, path.span().clone()), to_json_value);
    let from = || {
        let from = node.get("from").ok_or_else(|| missing("from"))?;
        pointer(from)
    };
    let action = match operation.text() {
        Some("add") => Action::Add(value()),
        Some("replace") => Action::Replace(value()),
        Some("remove") => Action::Remove,
        Some("test") => Action::Test(value()),
        Some("move") => Action::Move(from()?),
        Some("copy") => Action::Copy(from()?),
        other => {
            let message = format!("`{}` is not a JSON patch operation", other.unwrap_or_default());
            return Err((operation.span().clone(), message));
        }
    };
    Ok(Operation { action, span: path.span().clone(), path: pointer(path)? })
}

fn pointer(node: &Node) -> Result<Vec<String>, PatchError> {
    let Some(Scalar::String(text)) = node.resolve(Reader::Kubernetes) else {
        return Err((node.span().clone(), "a path must be a string".into()));
    };
    // evanphx/json-patch ignores text before the first slash, so `spec/a` equals `/a`.
    let mut segments = text.split('/');
    segments.next();
    let is_pointer = text.is_empty() || text.contains('/');
    let decoded = segments.map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect();
    if is_pointer {
        Ok(decoded)
    } else {
        Err((node.span().clone(), format!("`{text}` is not a valid path; it must start with `/`")))
    }
}

/// Applies all operations, or returns the first error.
///
/// Adds the number of visited values to `steps`.
pub(crate) fn apply(object: &Node, operations: &[Operation], steps: &Cell<usize>) -> Result<Node, PatchError> {
    steps.set(steps.get().saturating_add(object.size()));
    // kustomize converts the object to JSON before it applies the operations.
    let patched = operations.iter().try_fold(with_times(object), |node, operation| {
        steps.set(steps.get().saturating_add(operation.steps(&node)));
        if steps.get() > MAX_STEPS {
            return Err((operation.span.clone(), format!("the patch visits more than {MAX_STEPS} values")));
        }
        operation.apply(&node)
    })?;
    if let Some(missing_field) = missing_field(&patched) {
        let span = operations.last().map_or_else(|| patched.span().clone(), |operation| operation.span.clone());
        return Err((span, format!("the patched object has no {missing_field}")));
    }
    // kustomize parses the object again, which counts as a change for a validator.
    Ok(Node { value: Value::Map(patched.entries().iter().cloned().collect()), origin: patched.origin })
}

/// A required field that a patched object lacks.
fn missing_field(object: &Node) -> Option<&'static str> {
    let has_text = |keys: &[&str]| {
        let node = object.at_keys(keys).filter(|node| !node.is_null());
        node.and_then(Node::text).is_some_and(|text| !text.is_empty())
    };
    let annotations = object.at_keys(&["metadata", "annotations"]);
    if !has_text(&["kind"]) {
        Some("`kind`")
    } else if !has_text(&["metadata", "name"]) {
        Some("`metadata.name`")
    } else {
        annotations.filter(|node| node.is_seq()).map(|_| "mapping of annotations")
    }
}

impl Operation {
    /// The number of values that the operation copies or compares.
    fn steps(&self, object: &Node) -> usize {
        match &self.action {
            Action::Test(_) | Action::Copy(_) => object.size(),
            Action::Move(from) => width(object, from) + width(object, &self.path),
            Action::Add(_) | Action::Replace(_) | Action::Remove => width(object, &self.path),
        }
    }

    fn apply(&self, object: &Node) -> Result<Node, PatchError> {
        let error = |message: String| (self.span.clone(), message);
        let change = |change: Change<'_>, path: &[String]| edit(object, path, &change, &self.span).map_err(error);
        match &self.action {
            Action::Replace(value) if self.path.is_empty() => match value.value {
                Value::Map(_) => Ok(object.replaced_by(value)),
                Value::Seq(_) | Value::Scalar(..) => Err(error("an object can only be replaced by a mapping".into())),
            },
            Action::Test(value) if self.path.is_empty() && same_value(object, value) => Ok(object.clone()),
            Action::Add(value) => change(Change::Add(value), &self.path),
            Action::Replace(value) => change(Change::Replace(value), &self.path),
            Action::Remove => change(Change::Remove, &self.path),
            Action::Test(value) => match find(object, &self.path) {
                Some(found) if same_value(found, value) => Ok(object.clone()),
                None if value.is_null() && is_in_mapping(object, &self.path) => Ok(object.clone()),
                _ => Err(error(format!("the test of `{}` failed", display_path(&self.path)))),
            },
            Action::Move(from) => {
                let value = self.value_at(object, from)?;
                let without = change(Change::Remove, from)?;
                edit(&without, &self.path, &Change::Add(&value), &self.span).map_err(error)
            }
            Action::Copy(from) => {
                let value = self.copied_value(object, from)?;
                let copied = change(Change::Add(&value), &self.path)?;
                size_limits::check_object_size(&copied, &value).map_err(error)?;
                Ok(copied)
            }
        }
    }

    /// The value that `copy` reads; a missing key has the value null.
    fn copied_value(&self, object: &Node, from: &[String]) -> Result<Node, PatchError> {
        match find(object, from) {
            None if is_in_mapping(object, from) => Ok(Node::scalar("null", Style::Plain, self.span.clone())),
            _ => self.value_at(object, from),
        }
    }

    /// The value at another path of the object, with the patch as its origin.
    fn value_at(&self, object: &Node, from: &[String]) -> Result<Node, PatchError> {
        let found = find(object, from);
        let value = found.ok_or_else(|| (self.span.clone(), format!("`{}` does not exist", display_path(from))))?;
        Ok(value.changed(value.value.clone(), ChangedBy::Patch(self.span.clone())))
    }
}

enum Change<'a> {
    Add(&'a Node),
    Replace(&'a Node),
    Remove,
}

fn display_path(path: &[String]) -> String {
    format!("/{}", path.join("/"))
}

/// Returns whether the parent of a path is a mapping.
fn is_in_mapping(object: &Node, path: &[String]) -> bool {
    path.split_last().and_then(|(_, parent)| find(object, parent)).is_some_and(Node::is_map)
}

fn find<'a>(object: &'a Node, path: &[String]) -> Option<&'a Node> {
    path.iter().try_fold(object, |node, segment| match &node.value {
        Value::Map(_) => node.get(segment),
        Value::Seq(items) => items.get(index_in(segment, items.len())?),
        Value::Scalar(..) => None,
    })
}

/// The number of values next to the path. A change copies the lists and mappings on its path.
fn width(object: &Node, path: &[String]) -> usize {
    let (mut node, mut width) = (object, 1);
    for segment in path {
        width += node.entries().len() + node.items().len();
        match find(node, std::slice::from_ref(segment)) {
            Some(next) => node = next,
            None => break,
        }
    }
    width
}

/// The index of a segment; a negative index counts from the end.
fn index_in(segment: &str, len: usize) -> Option<usize> {
    match segment.strip_prefix('-') {
        Some(back) => len.checked_sub(back.parse().ok()?),
        None => segment.parse().ok(),
    }
}

fn edit(node: &Node, path: &[String], change: &Change<'_>, span: &Span) -> Result<Node, String> {
    let Some((first, rest)) = path.split_first() else { return Err("the whole object cannot be patched".into()) };
    match &node.value {
        Value::Map(_) if rest.is_empty() => edit_entry(node, first, change, span),
        Value::Seq(items) if rest.is_empty() => edit_item(node, items, first, change),
        Value::Map(_) => {
            let entry = node.entry(first).filter(|entry| !entry.node.is_null());
            let entry = entry.ok_or_else(|| format!("`{first}` does not exist, so it has no fields"))?;
            Ok(node.with(entry.with_node(edit(&entry.node, rest, change, span)?)))
        }
        Value::Seq(items) => {
            let index = index_in(first, items.len()).filter(|index| *index < items.len());
            let index = index.ok_or_else(|| format!("the list has no item `{first}`"))?;
            let mut items = items.to_vec();
            items[index] = edit(&items[index], rest, change, span)?;
            Ok(Node { value: Value::Seq(items.into()), origin: node.origin.clone() })
        }
        Value::Scalar(..) => Err(format!("a scalar has no field `{first}`")),
    }
}

fn edit_entry(node: &Node, key: &str, change: &Change<'_>, span: &Span) -> Result<Node, String> {
    let old = node.entry(key);
    match (change, old) {
        (Change::Add(value) | Change::Replace(value), Some(old)) => {
            Ok(node.with(old.with_node(old.node.replaced_by(value))))
        }
        // evanphx/json-patch creates a missing key for `replace`.
        (Change::Add(value) | Change::Replace(value), None) => {
            Ok(node.with(Entry::new(key, key_place(value, span), (*value).clone())))
        }
        (Change::Remove, Some(_)) => Ok(node.without(key)),
        (Change::Remove, None) => Err(format!("`{key}` does not exist")),
    }
}

/// The position of a key that a patch creates: `span`, or the position of a value that another file provides.
fn key_place<'a>(value: &'a Node, span: &'a Span) -> &'a Span {
    let written = value.origin.written();
    if written.file() == span.file() { span } else { written }
}

fn edit_item(node: &Node, items: &[Node], segment: &str, change: &Change<'_>) -> Result<Node, String> {
    let mut items = items.to_vec();
    let no_item = || format!("the list has no item `{segment}`");
    match change {
        Change::Add(value) if segment == "-" => items.push((*value).clone()),
        Change::Add(value) => {
            let len = items.len() + usize::from(segment.starts_with('-'));
            let index = index_in(segment, len).filter(|index| *index <= items.len()).ok_or_else(no_item)?;
            items.insert(index, (*value).clone());
        }
        Change::Replace(value) => {
            let index = index_in(segment, items.len()).filter(|index| *index < items.len()).ok_or_else(no_item)?;
            items[index] = items[index].replaced_by(value);
        }
        Change::Remove => {
            let index = index_in(segment, items.len()).filter(|index| *index < items.len()).ok_or_else(no_item)?;
            items.remove(index);
        }
    }
    Ok(Node { value: Value::Seq(items.into()), origin: node.origin.clone() })
}

fn same_value(object: &Node, patch: &Node) -> bool {
    to_json(object, Reader::Kustomize) == to_json(patch, Reader::Kubernetes)
}

/// A value of a patch after kustomize's conversion to JSON: `yes` and `off` become booleans, and a date is a string.
fn to_json_value(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar(_, Style::Plain) => match node.resolve(Reader::Kubernetes) {
            Some(Scalar::Bool(value)) => Value::Scalar(value.to_string().into(), Style::Plain),
            Some(Scalar::String(text)) if plain_time(text, false).is_some() => {
                Value::Scalar(text.into(), Style::Double)
            }
            _ => return node.clone(),
        },
        Value::Scalar(..) => return node.clone(),
        Value::Seq(items) => Value::Seq(items.iter().map(to_json_value).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|entry| entry.with_node(to_json_value(&entry.node))).collect())
        }
    };
    Node { value, origin: node.origin.clone() }
}
