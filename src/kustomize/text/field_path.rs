//! Paths of fields as replacements write them: `spec.containers.[name=app].image`, with `*` and positions in lists.
//!
//! A source's path is looked up, a target's path is matched; the two read some segments differently, as in kustomize: a
//! list's item is matched exactly in the one and by a regular expression that may match a part in the other.

use regex::Regex;

use super::structured;
use crate::text::Span;
use crate::yaml::{Entry, Node, Origin, Style, Value};

/// A path may create this many levels, so that a path cannot make an object that is too deep to walk.
const MAX_SEGMENTS: usize = 256;

/// The segments of a path; a dot after a backslash or inside of brackets belongs to its segment.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut pieces: Vec<&str> = path.split('.').collect();
    if pieces.len() > 1 && pieces.first() == Some(&"") {
        pieces.remove(0);
    }
    let mut joined: Vec<String> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => {
                last.pop();
                last.push('.');
                last.push_str(piece);
            }
            None => joined.push(piece.to_string()),
        }
    }
    let mut segments = Vec::new();
    let mut rest = joined.into_iter();
    while let Some(mut segment) = rest.next() {
        if segment.starts_with('[') && !segment.ends_with(']') {
            for piece in rest.by_ref() {
                segment.push('.');
                segment.push_str(&piece);
                if piece.ends_with(']') {
                    break;
                }
            }
            if !segment.contains('=') {
                segment = segment.trim_matches(['[', ']']).to_string();
            }
        }
        segments.push(segment);
    }
    segments
}

/// What a segment of a path means.
enum Segment<'a> {
    Index(usize),
    /// `[name=value]`; the name is empty for lists of single values.
    Item(&'a str, &'a str),
    Wildcard,
    Field(&'a str),
}

fn read(segment: &str) -> Result<Segment<'_>, String> {
    if let Ok(index) = segment.parse::<i64>()
        && let Ok(index) = usize::try_from(index)
    {
        return Ok(Segment::Index(index));
    }
    if let Some(inner) = segment.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (name, value) =
            inner.split_once('=').ok_or_else(|| format!("`{segment}` selects no item; it needs `[field=value]`"))?;
        return Ok(Segment::Item(name, value));
    }
    Ok(if segment == "*" { Segment::Wildcard } else { Segment::Field(segment) })
}

/// The node at a path; `None` when it is not there.
pub(crate) fn look_up<'a>(root: &'a Node, path: &[String]) -> Result<Option<&'a Node>, String> {
    let mut node = root;
    for segment in path.iter().map(|segment| segment.trim()).filter(|segment| !segment.is_empty()) {
        let found = match read(segment)? {
            Segment::Wildcard => return Err("`*` cannot be used in a source".into()),
            Segment::Field("-") => list(node, segment)?.last(),
            Segment::Field(name) if name.parse::<i64>().is_ok() => return Err(format!("index `{name}` is negative")),
            Segment::Field(name) => field(node, name)?,
            Segment::Index(index) => list(node, segment)?.get(index),
            Segment::Item("", value) => list(node, segment)?.iter().find(|item| item.text().unwrap_or("") == value),
            Segment::Item(name, value) => list(node, segment)?
                .iter()
                .find(|item| item.get(name).is_some_and(|field| field.text().unwrap_or("") == value)),
        };
        let Some(found) = found else { return Ok(None) };
        node = found;
    }
    Ok(Some(node))
}

fn field<'a>(node: &'a Node, name: &str) -> Result<Option<&'a Node>, String> {
    if node.is_map() || node.is_null() {
        return Ok(node.get(name));
    }
    Err(format!("`{name}` cannot be below {}", shape(node)))
}

fn list<'a>(node: &'a Node, segment: &str) -> Result<&'a [Node], String> {
    if node.is_seq() || node.is_null() {
        return Ok(node.items());
    }
    Err(format!("`{segment}` needs a list and there is {}", shape(node)))
}

fn shape(node: &Node) -> &'static str {
    match node.value {
        Value::Scalar(..) => "a single value",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

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

    fn visit(&self, node: &Node, path: &[String], made: bool) -> Result<Option<Node>, String> {
        let Some((first, rest)) = path.split_first() else { return (self.set)(node, made).map(Some) };
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
            let child = rooted(child, self.span);
            let entry = Entry::new(name, self.span, child);
            // A null takes no entries in kustomize either: the change is lost.
            return Ok(Some(if node.is_map() { node.with(entry) } else { node.clone() }));
        };
        if !rest.is_empty() && entry.node.text().is_some() {
            // Text below which a path goes on is read as YAML or JSON. A match that only this reading finds, and not
            // the exact one, changes nothing in kustomize: see `structured`.
            return structured::matches(self, &entry.node, rest).map(|found| found.then(|| node.clone()));
        }
        Ok(self.visit(&entry.node, rest, false)?.map(|child| node.with(entry.with_node(child))))
    }

    fn visit_index(&self, node: &Node, segment: &str, index: usize, rest: &[String]) -> Result<Option<Node>, String> {
        let mut items = list(node, segment)?.to_vec();
        let made = index == items.len() && self.create.is_some();
        if let Some(create) = self.create.filter(|_| made) {
            items.push(next_shape(rest, create).empty(self.span));
        }
        let len = items.len();
        let item = items.get_mut(index).ok_or_else(|| format!("there is no item {index} in a list of {len}"))?;
        let Some(changed) = self.visit(item, rest, made)? else { return Ok(None) };
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
fn rooted(node: Node, span: &Span) -> Node {
    if node.origin.written().file() == span.file() {
        return node;
    }
    let by = crate::yaml::By::Field(node.span().clone());
    let step = crate::yaml::Step::new(by, Some(Origin::At(span.clone())), Box::default());
    Node { value: node.value, origin: Origin::Via(std::sync::Arc::new(step)) }
}

fn with_items(node: &Node, items: &[Node], changed: Vec<Option<Node>>) -> Option<Node> {
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = items.iter().zip(changed).map(|(old, new)| new.unwrap_or_else(|| old.clone()));
    Some(Node { value: Value::Seq(items.collect()), origin: node.origin.clone() })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn dots_after_backslashes_and_inside_of_brackets_belong_to_their_segment() {
        assert_eq!(split("metadata.annotations.a\\.io/b"), ["metadata", "annotations", "a.io/b"]);
        assert_eq!(split("a.[b.c=d.e].f"), ["a", "[b.c=d.e]", "f"]);
        assert_eq!(split("a.[b.io/c].d"), ["a", "b.io/c", "d"]);
        assert_eq!(split(".a"), ["a"]);
    }
}
