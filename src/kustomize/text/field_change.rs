//! Changes of every node that a field path matches.

use std::sync::Arc;

use super::field_path::{Segment, field, list, read};
use crate::base::go_regexp::Regexp;
use crate::text::{File, Span};
use crate::yaml::{ChangedBy, Entry, Node, Origin, Style, Value, ValueChange, parse};

/// The maximum number of segments. It limits the depth of objects that a path can create.
const MAX_SEGMENTS: usize = 256;

/// The kind of node that a path creates for a missing field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Seq,
    Map,
}

impl Shape {
    /// The kind of a node.
    pub(crate) fn of(node: &Node) -> Self {
        match node.value {
            Value::Scalar(..) => Self::Scalar,
            Value::Seq(_) => Self::Seq,
            Value::Map(_) => Self::Map,
        }
    }

    fn empty(self, span: &Span) -> Node {
        let value = match self {
            Self::Scalar => Value::Scalar("".into(), Style::Plain),
            Self::Seq => Value::Seq([].into()),
            Self::Map => Value::Map([].into()),
        };
        Node::at(value, span.clone())
    }
}

/// A change of every node that a path matches.
pub(crate) struct Change<'a> {
    /// The kind of node to create for a missing field; `None` to create none.
    pub(crate) create: Option<Shape>,
    /// The position of created nodes.
    pub(crate) span: &'a Span,
    /// The function that computes the new node; the flag is true if the path created the old node.
    pub(crate) set: &'a dyn Fn(&Node, bool) -> Result<Node, String>,
}

impl Change<'_> {
    /// Applies the change to every match; `None` if the path matches nothing.
    pub(crate) fn apply(&self, object: &Node, path: &[String]) -> Result<Option<Node>, String> {
        if path.len() > MAX_SEGMENTS {
            return Err(format!("the path has more than {MAX_SEGMENTS} segments"));
        }
        self.visit(object, path, false)
    }

    fn visit(&self, node: &Node, path: &[String], is_new: bool) -> Result<Option<Node>, String> {
        let Some((first, rest)) = path.split_first() else { return (self.set)(node, is_new).map(Some) };
        match read(first)? {
            Segment::Index(index) => self.visit_index(node, first, index, rest),
            Segment::Item(name, pattern) => self.visit_items(node, first, (name, pattern), rest),
            Segment::Wildcard => {
                let items = list(node, first)?;
                let changed = items.iter().map(|item| self.visit(item, rest, false)).collect::<Result<Vec<_>, _>>()?;
                Ok(with_items(node, items, changed))
            }
            Segment::Field(name) => self.visit_field(node, name, rest),
        }
    }

    fn visit_field(&self, node: &Node, name: &str, rest: &[String]) -> Result<Option<Node>, String> {
        let Some(entry) = node.entry(name) else {
            field(node, name)?;
            let Some(create) = self.create else { return Ok(None) };
            let child = next_shape(rest, create).empty(self.span);
            let Some(child) = self.visit(&child, rest, true)? else { return Ok(None) };
            let child = with_key_file(child, self.span);
            let entry = Entry::new(name, self.span, child);
            // kustomize does not add entries to a null either: the change is lost.
            return Ok(Some(if node.is_map() { node.with(entry) } else { node.clone() }));
        };
        if !rest.is_empty() && entry.node.text().is_some() {
            // If a path enters a text, kustomize parses the text as YAML or JSON. A match in the text changes only a
            // copy; see `structured`.
            return self.matches_inside(&entry.node, rest).map(|found| found.then(|| node.clone()));
        }
        Ok(self.visit(&entry.node, rest, false)?.map(|child| node.with(entry.with_node(child))))
    }

    /// Returns whether a path matches in the text of a scalar. kustomize then changes a copy of the parsed text only.
    fn matches_inside(&self, scalar: &Node, path: &[String]) -> Result<bool, String> {
        let text = scalar.text().unwrap_or_default();
        let root = read_embedded(text).ok_or_else(|| "the field holds a scalar, which has no fields".to_string())?;
        let keep = |node: &Node, _: bool| Ok(node.clone());
        let inner = Change { create: self.create, span: self.span, set: &keep };
        Ok(inner.apply(&root, path)?.is_some())
    }

    fn visit_index(&self, node: &Node, segment: &str, index: usize, rest: &[String]) -> Result<Option<Node>, String> {
        let mut items = list(node, segment)?.to_vec();
        let is_new = index == items.len() && self.create.is_some();
        if let Some(create) = self.create.filter(|_| is_new) {
            items.push(next_shape(rest, create).empty(self.span));
        }
        let len = items.len();
        let item =
            items.get_mut(index).ok_or_else(|| format!("index {index} is out of range for a list of {len} items"))?;
        let Some(changed) = self.visit(item, rest, is_new)? else { return Ok(None) };
        *item = changed;
        Ok(Some(Node { value: Value::Seq(items.into()), origin: node.origin.clone() }))
    }

    fn visit_items(
        &self,
        node: &Node,
        segment: &str,
        (name, pattern): (&str, &str),
        rest: &[String],
    ) -> Result<Option<Node>, String> {
        let regexp = Regexp::compile(pattern)
            .map_err(|refused| format!("`{pattern}` is not a valid regular expression: {refused}"))?;
        let items = list(node, segment)?;
        let changed =
            items.iter().map(|item| self.visit_item(item, name, &regexp, rest)).collect::<Result<Vec<_>, _>>()?;
        let found = with_items(node, items, changed);
        if found.is_some() || self.create.is_none() || !node.is_seq() {
            return Ok(found);
        }
        let text = Node::scalar(pattern, Style::Plain, self.span.clone());
        let item = match name {
            "" => text,
            _ => Node::at(Value::Map([Entry::new(name, self.span, text)].into()), self.span.clone()),
        };
        let item = self
            .visit_item(&item, name, &regexp, rest)?
            .ok_or_else(|| format!("a new item for `{segment}` would not match it"))?;
        let mut items = items.to_vec();
        items.push(item);
        Ok(Some(Node { value: Value::Seq(items.into()), origin: node.origin.clone() }))
    }

    fn visit_item(&self, item: &Node, name: &str, regexp: &Regexp, rest: &[String]) -> Result<Option<Node>, String> {
        if name.is_empty() {
            // kustomize ignores the rest of the path after an item of a list of scalars.
            return if regexp.is_match(&printed(item)) { (self.set)(item, false).map(Some) } else { Ok(None) };
        }
        match item.get(name) {
            Some(field) if regexp.is_match(&printed(field)) => self.visit(item, rest, false),
            _ => Ok(None),
        }
    }
}

/// The YAML or JSON in a text; `None` if the text is not one complete document.
pub(super) fn read_embedded(text: &str) -> Option<Node> {
    let parsed = parse(&File::new("text", text));
    let document = parsed.documents.into_iter().next()?;
    (parsed.findings.is_empty() && document.complete).then_some(document.node)
}

/// The text of a value as written: kustomize also matches the quotes.
fn printed(node: &Node) -> String {
    match &node.value {
        Value::Scalar(text, Style::Single) => format!("'{text}'"),
        Value::Scalar(text, Style::Double) => format!("\"{text}\""),
        Value::Scalar(text, _) => text.trim().to_string(),
        Value::Seq(_) | Value::Map(_) => String::new(),
    }
}

/// The kind of node that a path creates: a list before an item, a mapping before a field.
fn next_shape(rest: &[String], create: Shape) -> Shape {
    match rest.first() {
        None => create,
        Some(next) => match read(next) {
            Ok(Segment::Index(_) | Segment::Item(..)) | Err(_) => Shape::Seq,
            Ok(Segment::Wildcard | Segment::Field(_)) => Shape::Map,
        },
    }
}

/// A created value below a key at `span`: its first position must be in the file of the key.
fn with_key_file(node: Node, span: &Span) -> Node {
    if node.origin.written().file() == span.file() {
        return node;
    }
    let by = ChangedBy::Field(node.span().clone());
    let step = ValueChange::new(by, Some(Origin::At(span.clone())), Box::default());
    Node { value: node.value, origin: Origin::Via(Arc::new(step)) }
}

fn with_items(node: &Node, items: &[Node], changed: Vec<Option<Node>>) -> Option<Node> {
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = items.iter().zip(changed).map(|(old, new)| new.unwrap_or_else(|| old.clone()));
    Some(Node { value: Value::Seq(items.collect()), origin: node.origin.clone() })
}
