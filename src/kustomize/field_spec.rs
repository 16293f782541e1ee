//! Field specifications: where in which kinds a transformer works.

use std::sync::Arc;

use super::resources::Id;
use crate::text::Span;
use crate::yaml::{By, Entry, Node, Origin, Step, Style, Value};

/// A path in objects of some kinds; empty means any.
#[derive(Debug, Clone)]
pub(super) struct FieldSpec {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    /// Keys joined by `/`; `[]` after a key says that it holds a list.
    pub(super) path: String,
    /// Whether what is missing on the path is made.
    pub(super) create: bool,
}

impl FieldSpec {
    pub(super) fn matches(&self, id: &Id) -> bool {
        let same = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        same(&self.group, &id.group) && same(&self.version, &id.version) && same(&self.kind, &id.kind)
    }

    /// The object with `change` applied to every mapping at the path; what is made stands at `span`.
    pub(super) fn apply(&self, node: &Node, span: &Span, change: &dyn Fn(&Node) -> Node) -> Option<Node> {
        let segments: Vec<&str> = self.path.split('/').filter(|segment| !segment.is_empty()).collect();
        reach(node, &segments, self.create, span, change)
    }
}

fn reach(node: &Node, segments: &[&str], create: bool, span: &Span, change: &dyn Fn(&Node) -> Node) -> Option<Node> {
    let Some((first, rest)) = segments.split_first() else { return Some(change(node)) };
    match &node.value {
        Value::Seq(items) => {
            let changed: Vec<Option<Node>> =
                items.iter().map(|item| reach(item, segments, create, span, change)).collect();
            if changed.iter().all(Option::is_none) {
                return None;
            }
            let items = items.iter().zip(changed).map(|(old, new)| new.unwrap_or_else(|| old.clone()));
            Some(Node { value: Value::Seq(items.collect()), origin: node.origin.clone() })
        }
        Value::Map(_) => {
            let key = first.strip_suffix("[]").unwrap_or(first);
            match node.entry(key).filter(|entry| !entry.node.is_null()) {
                Some(entry) => {
                    let child = reach(&entry.node, rest, create, span, change)?;
                    Some(node.with(entry.with_node(child)))
                }
                None if create && !first.ends_with("[]") => {
                    let empty = Node::at(Value::Map([].into()), span.clone());
                    let child = reach(&empty, rest, create, span, change)?;
                    Some(node.with(Entry::new(key, span, child)))
                }
                None => None,
            }
        }
        Value::Scalar(..) => None,
    }
}

/// A mapping with a key set to a text. A value that is the same already keeps its place.
pub(super) fn set_text(map: &Node, key: &str, key_span: &Span, value: &Node) -> Node {
    let Some(text) = value.shared_text() else { return map.clone() };
    let style = string_style(value);
    let by = By::Field(value.span().clone());
    match map.entry(key) {
        Some(entry) if entry.node.text() == Some(&text) => map.clone(),
        Some(entry) => map.with(entry.with_node(entry.node.changed(Value::Scalar(text, style), by))),
        None => {
            let step = Step { by, was: None, pieces: Box::default() };
            let origin = Origin::Via(Arc::new(step));
            map.with(Entry::new(key, key_span, Node { value: Value::Scalar(text, style), origin }))
        }
    }
}

/// A style that makes the text a string: these fields hold strings, whatever the text looks like.
fn string_style(value: &Node) -> Style {
    match &value.value {
        Value::Scalar(_, style) if *style != Style::Plain => *style,
        _ => Style::Double,
    }
}
