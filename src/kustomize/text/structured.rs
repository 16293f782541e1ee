//! YAML and JSON in text fields, which replacements can change.

use std::cell::RefCell;
use std::ops::Range;

use super::field_change::{Change, Shape, read_embedded};
use super::field_path::look_up;
use super::retype::{Retyped, retype};
use super::{go_json, size_limits};
use crate::text::Span;
use crate::yaml::{By, Node, Reader, Style, Value, print, to_json};

/// Writes a value into the text that a path enters.
///
/// Returns `None` if the path enters no text, or if the text cannot be parsed or printed. kustomize then looks for a
/// field of the object itself.
pub(crate) fn write(object: &Node, path: &[String], value: &Node, create: bool, by: &Span) -> Option<Node> {
    let (end, scalar, root) = (1..path.len()).find_map(|end| {
        let scalar = look_up(object, path.get(..end)?).ok()??;
        Some((end, scalar, read_embedded(scalar.text()?)?))
    })?;
    let text = scalar.text()?;
    let json = text.trim_start().starts_with(['{', '[']);
    let edits = RefCell::new(Some(Vec::new()));
    let set = |node: &Node, is_new: bool| set_embedded(node, is_new, value, json, &edits);
    let change = Change { create: create.then(|| Shape::of(value)), span: by, set: &set };
    let changed = change.apply(&root, path.get(end..)?).ok()??;
    let written = if json {
        let pretty = text.contains('\n') && text.contains("  ");
        go_json::print(&to_json(&changed, Reader::Kustomize), pretty)
    } else {
        match edits.into_inner() {
            Some(edits) => splice(text, edits),
            None => print(&[changed]),
        }
        .trim()
        .to_string()
    };
    size_limits::check_text_size(&written).ok()?;
    let node = scalar.changed(Value::Scalar(written.into(), block_style(scalar)), By::Field(by.clone()));
    set_at(object, path.get(..end)?, &node)
}

fn block_style(scalar: &Node) -> Style {
    match scalar.value {
        Value::Scalar(_, style) if style != Style::Plain => style,
        // A plain scalar has one line; the new text may have more.
        Value::Scalar(..) | Value::Seq(_) | Value::Map(_) => Style::Double,
    }
}

type Edits = RefCell<Option<Vec<(Range<usize>, String)>>>;

/// Sets a value in a parsed text, and records the edit of the text if possible.
fn set_embedded(node: &Node, is_new: bool, value: &Node, json: bool, edits: &Edits) -> Result<Node, String> {
    let Value::Scalar(..) = node.value else {
        edits.replace(None);
        return Ok(value.clone());
    };
    let text = value.shared_text().unwrap_or_else(|| "".into());
    let token = match retype(node, &text, is_new) {
        Retyped::Compatible(style) => {
            let token = token(&text, style);
            match token.filter(|_| !is_new && !node.span().text().contains('\n')) {
                Some(token) => record_edit(edits, node.span().range(), token),
                None => drop(edits.replace(None)),
            }
            return Ok(Node { value: Value::Scalar(text, style), origin: node.origin.clone() });
        }
        // JSON has no type tags, so kustomize fails and keeps the text.
        Retyped::Incompatible(_) if json => return Err("the value has another type".into()),
        Retyped::Incompatible(tag) => format!("{tag} {text}"),
    };
    record_edit(edits, node.span().range(), token);
    Ok(node.clone())
}

fn record_edit(edits: &Edits, range: Range<usize>, token: String) {
    if let Some(edits) = edits.borrow_mut().as_mut() {
        edits.push((range, token));
    }
}

/// A scalar as one line; `None` if it needs more lines.
fn token(text: &str, style: Style) -> Option<String> {
    if text.contains('\n') {
        return None;
    }
    match style {
        Style::Plain => Some(text.to_string()),
        Style::Single => Some(format!("'{}'", text.replace('\'', "''"))),
        Style::Double => serde_json::to_string(text).ok(),
        Style::Literal | Style::Folded | Style::Unknown => None,
    }
}

fn splice(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut offset = 0;
    for (range, token) in edits {
        out.push_str(text.get(offset..range.start).unwrap_or_default());
        out.push_str(&token);
        offset = range.end.max(offset);
    }
    out.push_str(text.get(offset..).unwrap_or_default());
    out
}

/// Sets the node at a path that [`look_up`] found.
fn set_at(object: &Node, path: &[String], node: &Node) -> Option<Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node.clone()) };
    let child = look_up(object, std::slice::from_ref(first)).ok()??;
    let new = set_at(child, rest, node)?;
    match &object.value {
        Value::Map(_) => Some(object.with(object.entry(first.trim())?.with_node(new))),
        Value::Seq(items) => {
            let index = items.iter().position(|item| std::ptr::eq(item, child))?;
            let mut items = items.to_vec();
            *items.get_mut(index)? = new;
            Some(Node { value: Value::Seq(items.into()), origin: object.origin.clone() })
        }
        Value::Scalar(..) => None,
    }
}
