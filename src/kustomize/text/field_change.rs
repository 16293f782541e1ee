//! Changes of every node that a field path matches.

use std::sync::Arc;

use regex::Regex;

use super::field_path::{Segment, field, list, read};
use crate::text::{File, Span};
use crate::yaml::{By, Entry, Node, Origin, Step, Style, Value, parse};

/// A path may create this many levels, so that a path cannot make an object that is too deep to walk.
const MAX_SEGMENTS: usize = 256;

/// What is made where a path ends in nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Seq,
    Map,
}

impl Shape {
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
    /// What to make where nothing is; `None` to make nothing.
    pub(crate) create: Option<Shape>,
    /// Where what is made stands.
    pub(crate) span: &'a Span,
    /// The node's new state. `true` says that the path made the node.
    pub(crate) set: &'a dyn Fn(&Node, bool) -> Result<Node, String>,
}

impl Change<'_> {
    /// The object with every match changed; `None` when the path matches nothing.
    pub(crate) fn apply(&self, object: &Node, path: &[String]) -> Result<Option<Node>, String> {
        if path.len() > MAX_SEGMENTS {
            return Err(format!("a path of more than {MAX_SEGMENTS} segments"));
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
            // A null takes no entries in kustomize either: the change is lost.
            return Ok(Some(if node.is_map() { node.with(entry) } else { node.clone() }));
        };
        if !rest.is_empty() && entry.node.text().is_some() {
            // Text below which a path goes on is read as YAML or JSON. A match that only this reading finds, and not
            // the exact one, changes nothing in kustomize: see `structured`.
            return self.matches_inside(&entry.node, rest).map(|found| found.then(|| node.clone()));
        }
        Ok(self.visit(&entry.node, rest, false)?.map(|child| node.with(entry.with_node(child))))
    }

    /// Tells whether a path matches something in the text of a scalar. kustomize changes a copy then, so nothing changes.
    fn matches_inside(&self, scalar: &Node, path: &[String]) -> Result<bool, String> {
        let text = scalar.text().unwrap_or_default();
        let root =
            read_embedded(text).ok_or_else(|| "there is a single value, and nothing can be below it".to_string())?;
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
        let item = items.get_mut(index).ok_or_else(|| format!("there is no item {index} in a list of {len}"))?;
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
        let regex = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
        let regex = regex.map_err(|_| format!("`{pattern}` is no regular expression that can be read"))?;
        let items = list(node, segment)?;
        let changed =
            items.iter().map(|item| self.visit_item(item, name, &regex, rest)).collect::<Result<Vec<_>, _>>()?;
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
            .visit_item(&item, name, &regex, rest)?
            .ok_or_else(|| format!("an item made for `{segment}` would not be matched by it"))?;
        let mut items = items.to_vec();
        items.push(item);
        Ok(Some(Node { value: Value::Seq(items.into()), origin: node.origin.clone() }))
    }

    fn visit_item(&self, item: &Node, name: &str, regex: &Regex, rest: &[String]) -> Result<Option<Node>, String> {
        if name.is_empty() {
            // What stands behind an item without fields is not looked at.
            return if regex.is_match(&printed(item)) { (self.set)(item, false).map(Some) } else { Ok(None) };
        }
        match item.get(name) {
            Some(field) if regex.is_match(&printed(field)) => self.visit(item, rest, false),
            _ => Ok(None),
        }
    }
}

/// The YAML or JSON that a text holds; `None` where it is not one complete document.
pub(super) fn read_embedded(text: &str) -> Option<Node> {
    let parsed = parse(&File::new("text", text));
    let document = parsed.documents.into_iter().next()?;
    (parsed.findings.is_empty() && document.complete).then_some(document.node)
}

/// The text of a value as it would be written: kustomize matches quotes too.
fn printed(node: &Node) -> String {
    match &node.value {
        Value::Scalar(text, Style::Single) => format!("'{text}'"),
        Value::Scalar(text, Style::Double) => format!("\"{text}\""),
        Value::Scalar(text, _) => text.trim().to_string(),
        Value::Seq(_) | Value::Map(_) => String::new(),
    }
}

/// What a made node holds: a list where the path goes on with an item, a mapping where it goes on with a field.
fn next_shape(rest: &[String], create: Shape) -> Shape {
    match rest.first() {
        None => create,
        Some(next) => match read(next) {
            Ok(Segment::Index(_) | Segment::Item(..)) | Err(_) => Shape::Seq,
            Ok(Segment::Wildcard | Segment::Field(_)) => Shape::Map,
        },
    }
}

/// A made value whose key stands at `span`: the first place of its history must lie in the same file.
fn with_key_file(node: Node, span: &Span) -> Node {
    if node.origin.written().file() == span.file() {
        return node;
    }
    let by = By::Field(node.span().clone());
    let step = Step::new(by, Some(Origin::At(span.clone())), Box::default());
    Node { value: node.value, origin: Origin::Via(Arc::new(step)) }
}

fn with_items(node: &Node, items: &[Node], changed: Vec<Option<Node>>) -> Option<Node> {
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = items.iter().zip(changed).map(|(old, new)| new.unwrap_or_else(|| old.clone()));
    Some(Node { value: Value::Seq(items.collect()), origin: node.origin.clone() })
}
