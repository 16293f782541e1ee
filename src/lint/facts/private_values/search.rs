//! The search for private values in nodes and texts, with the positions of the values.

use std::cell::OnceCell;
use std::ops::Range;

use super::encoding::is_encrypted_file;
use super::evidence::evidence;
use super::guessable::is_guessable;
use super::lines::private_lines;
use super::markers::may_name_secrets;
use super::private::{Evidence, Private};
use super::quick_check::may_name_private;
use super::shape;
use crate::text::{File, Span};
use crate::yaml::{Embedded, Node, Parsed, Reader, Scalar, Style, Value, parse};

/// The maximum depth of the search. Objects are not deeper.
const MAX_DEPTH: usize = 256;

/// The depth that a text in a scalar adds, since it is parsed again.
const TEXT_DEPTH: usize = 8;

/// The private values of a node and of the texts in it.
pub fn private_values(node: &Node) -> Vec<Private> {
    let mut search = Search { found: Vec::new() };
    search.node(node, 0);
    search.found
}

/// The private parts of the text of a scalar. The text may also be decoded, or come from a generator's file.
pub(super) fn in_text(scalar: &Node, text: &str) -> Vec<Private> {
    let mut search = Search { found: Vec::new() };
    search.text(&Place::of(scalar, text), text, 0);
    search.found
}

/// Returns whether a text has parts: several lines, or the fields of a JSON object or list.
pub(super) fn is_structured(text: &str) -> bool {
    let is_json = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with("[{") && text.ends_with("}]"));
    text.contains('\n') || (is_json && text.contains('"'))
}

/// Returns whether a text is a YAML or JSON mapping.
pub(super) fn is_mapping(text: &str) -> bool {
    let parsed = parse(&File::new("", text));
    parsed.findings.is_empty() && parsed.documents.iter().all(|document| document.node.is_map())
}

/// The place of a text, from which the positions of its parts follow.
enum Place<'a> {
    /// The text is a file.
    File(File),
    /// The text is a scalar. Its lines are mapped to the file on demand.
    Scalar(&'a Node, OnceCell<Box<Embedded>>),
    /// The text is encoded, so its parts have no positions of their own.
    Whole(Span),
}

impl<'a> Place<'a> {
    fn of(scalar: &'a Node, text: &str) -> Self {
        let span = scalar.span();
        if span.file().text() == text {
            Self::File(span.file().clone())
        } else if scalar.text() == Some(text) {
            Self::Scalar(scalar, OnceCell::new())
        } else {
            Self::Whole(span.clone())
        }
    }

    fn embedded<'b>(scalar: &Node, embedded: &'b OnceCell<Box<Embedded>>) -> &'b Embedded {
        embedded.get_or_init(|| Box::new(Embedded::new(scalar)))
    }

    fn parse(&self, text: &str) -> Parsed {
        match self {
            Self::File(file) => parse(file),
            Self::Scalar(scalar, embedded) => Self::embedded(scalar, embedded).parse(),
            Self::Whole(_) => parse(&File::new("", text)),
        }
    }

    /// The position of a range of the text; `None` if only the position of the whole text is known.
    fn span(&self, range: Range<usize>) -> Option<Span> {
        match self {
            Self::File(file) => Some(file.span(range)),
            Self::Scalar(scalar, embedded) => Self::embedded(scalar, embedded).span(range),
            Self::Whole(_) => None,
        }
    }
}

struct Search {
    found: Vec<Private>,
}

impl Search {
    fn node(&mut self, node: &Node, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match &node.value {
            Value::Scalar(..) => self.scalar("", node, node, depth),
            Value::Seq(items) => items.iter().for_each(|item| self.node(item, depth + 1)),
            Value::Map(entries) => {
                // An environment variable: `name: PASSWORD` beside `value: …`.
                let variable = || node.get("name").and_then(Node::text).unwrap_or("value");
                for entry in entries.iter() {
                    let name = if &*entry.key == "value" { variable() } else { &entry.key };
                    match &entry.node.value {
                        Value::Scalar(..) => self.scalar(name, &entry.node, node, depth),
                        // The fields of a reference are names: `secretKeyRef: {name: …, key: …}`.
                        Value::Map(_) if is_key_reference(&entry.key) => {}
                        Value::Seq(_) | Value::Map(_) => self.node(&entry.node, depth + 1),
                    }
                }
            }
        }
    }

    fn scalar(&mut self, name: &str, scalar: &Node, among: &Node, depth: usize) {
        let Value::Scalar(text, style) = &scalar.value else { return };
        if (shape::is_short_word(text) && !may_name_secrets(name))
            || *style == Style::Unknown
            || is_encrypted_file(text)
        {
            return;
        }
        let value = text.trim();
        if shape::is_password_hash(value) {
            self.found.push(Private::new(scalar, name, Evidence::Shape(shape::PASSWORD_HASH)));
            return;
        }
        if is_structured(value) {
            let before = self.found.len();
            self.text(&Place::of(scalar, text), text, depth + TEXT_DEPTH);
            for one in self.found.iter_mut().skip(before).filter(|one| one.name.is_empty()) {
                one.name = name.to_string();
            }
            return;
        }
        let is_string = || matches!(scalar.resolve(Reader::Kustomize), Some(Scalar::String(_)));
        if let Some(evidence) = evidence(name, value, is_string, Some(among)) {
            self.found.push(Private::new(scalar, name, evidence));
        }
    }

    fn text(&mut self, place: &Place<'_>, text: &str, depth: usize) {
        if depth > MAX_DEPTH || is_encrypted_file(text) {
            return;
        }
        let before = self.found.len();
        let shape = shape::find(text);
        if shape.is_some() || may_name_private(text) {
            let parsed = place.parse(text);
            let is_plain = |node: &Node| node.text().is_some();
            let is_known = parsed.findings.is_empty() && parsed.documents.iter().all(|document| document.complete);
            if is_known && !parsed.documents.iter().any(|document| is_plain(&document.node)) {
                parsed.documents.iter().for_each(|document| self.node(&document.node, depth + 1));
            } else {
                self.lines(place, text);
            }
        }
        let is_found = self.found.iter().skip(before).any(|one| matches!(one.evidence, Evidence::Shape(_)));
        if !is_found && let Some(shape) = shape {
            let span = place.span(shape.range);
            let span = span.unwrap_or_else(|| whole(place));
            let evidence = Evidence::Shape(shape.what);
            self.found.push(Private { span, name: String::new(), evidence, variable: None });
        }
        if let Place::Whole(span) = place {
            self.found.iter_mut().skip(before).for_each(|one| one.span = span.clone());
        }
    }

    /// Searches the lines of a text in another format.
    fn lines(&mut self, place: &Place<'_>, text: &str) {
        for line in private_lines(text) {
            let (name, value) = (line.name.to_string(), line.value);
            let from = line.start;
            let span = place.span(from..from + value.len()).unwrap_or_else(|| whole(place));
            let named = if is_guessable(value) { Evidence::Guessable } else { Evidence::Name };
            let evidence = shape::of_named(&name, value).map_or(named, Evidence::Shape);
            self.found.push(Private { span, name, evidence, variable: None });
        }
    }
}

/// The position of a whole text.
fn whole(place: &Place<'_>) -> Span {
    match place {
        Place::File(file) => file.first_line(),
        Place::Scalar(scalar, embedded) => Place::embedded(scalar, embedded).outer().clone(),
        Place::Whole(span) => span.clone(),
    }
}

/// Returns whether a field references a key of a Secret or ConfigMap.
fn is_key_reference(name: &str) -> bool {
    matches!(name, "valueFrom" | "secretKeyRef" | "configMapKeyRef")
}
