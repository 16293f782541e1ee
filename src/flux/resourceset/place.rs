//! The origins of the nodes that a template creates: in the template, or in the input with the value.

use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::flux::resourceset::template::output::{From, Output, UNKNOWN};
use crate::text::{File, Span};
use crate::yaml::go::{Part, Segment};
use crate::yaml::{ChangedBy, Embedded, Entry, Node, Origin, Style, Value, ValueChange, as_kubernetes};

/// The source of a template's text.
pub(super) enum Ground<'a> {
    /// A node, printed as the operator prints it before it executes the template.
    Printed(&'a Node, Vec<Segment<'a>>),
    /// A scalar with the template.
    Text(&'a Node, Embedded),
}

impl<'a> Ground<'a> {
    /// Prints a node as a template.
    pub(super) fn printed(node: &'a Node) -> (String, Self) {
        let (text, segments) = crate::yaml::go::print_mapped(node);
        (text, Self::Printed(node, segments))
    }

    /// Uses the text of a scalar as a template.
    pub(super) fn text(scalar: &'a Node) -> Self {
        Self::Text(scalar, Embedded::new(scalar))
    }

    /// The origin of a range of the template's text.
    pub(super) fn origin(&self, at: Range<usize>) -> Origin {
        match self {
            Self::Text(scalar, inside) => Origin::At(inside.span(at).unwrap_or_else(|| scalar.span().clone())),
            Self::Printed(node, _) => match self.part(at.start) {
                Some(Part::Key(entry)) => Origin::At(entry.key_span()),
                Some(Part::Leaf(leaf) | Part::Dash(leaf)) => leaf.origin.clone(),
                None => node.origin.clone(),
            },
        }
    }

    /// The key or scalar at an offset of the printed text.
    fn part(&self, at: usize) -> Option<Part<'a>> {
        let Self::Printed(_, segments) = self else { return None };
        let before = segments.partition_point(|segment| segment.range.start <= at).checked_sub(1)?;
        segments.get(before).map(|segment| segment.part)
    }

    /// Returns whether an unchanged scalar of the template is unknown.
    fn is_unknown(&self, at: usize) -> bool {
        matches!(self.part(at), Some(Part::Leaf(node)) if matches!(node.value, Value::Scalar(_, Style::Unknown)))
    }

    /// The origin of the whole object.
    fn whole(&self) -> Option<Origin> {
        match self {
            Self::Printed(node, _) => Some(node.origin.clone()),
            Self::Text(..) => None,
        }
    }
}

/// The output of a template with its source.
pub(super) struct Places<'a> {
    output: &'a Output,
    ground: &'a Ground<'a>,
}

/// The origin of a range of the output.
struct Found {
    origin: Origin,
    /// The offset in the template, if the template contains the text literally.
    outside: Option<usize>,
}

impl<'a> Places<'a> {
    pub(super) fn new(output: &'a Output, ground: &'a Ground<'a>) -> Self {
        Self { output, ground }
    }

    /// Maps a document to its origins, with scalars as Kubernetes resolves them.
    pub(super) fn document(&self, document: &Node) -> Node {
        let node = self.node(&as_kubernetes(document));
        match self.ground.whole() {
            Some(origin) => Node { origin, ..node },
            None => node,
        }
    }

    /// The position of a range of the output.
    pub(super) fn span(&self, at: &Range<usize>) -> Span {
        self.find(at).origin.span().clone()
    }

    fn node(&self, node: &Node) -> Node {
        let range = node.span().range();
        let found = self.find(&range);
        let value = match &node.value {
            Value::Scalar(text, style) => self.scalar(text, *style, &found),
            Value::Seq(items) => Value::Seq(items.iter().map(|item| self.node(item)).collect()),
            Value::Map(entries) => Value::Map(entries.iter().map(|entry| self.entry(entry)).collect()),
        };
        Node { value, origin: found.origin }
    }

    fn entry(&self, entry: &Entry) -> Entry {
        let key = self.find(&entry.key_span().range()).origin.written().clone();
        let node = self.node(&entry.node);
        // The position of a key must be in the file of its value.
        let written = node.origin.written();
        let key = if key.file() == written.file() { key } else { written.clone() };
        Entry::new(entry.key.clone(), &key, node)
    }

    fn scalar(&self, text: &ArcStr, style: Style, found: &Found) -> Value {
        if text.contains(UNKNOWN.0) || found.outside.is_some_and(|at| self.ground.is_unknown(at)) {
            let shown = text.replace(UNKNOWN.0, "<< ").replace(UNKNOWN.1, " >>");
            return Value::Scalar(shown.into(), Style::Unknown);
        }
        Value::Scalar(text.clone(), style)
    }

    fn find(&self, range: &Range<usize>) -> Found {
        let pieces = &self.output.pieces;
        let text = self.output.text.get(range.clone()).unwrap_or_default();
        // Quotes around a value belong to the template.
        let quoted = text.starts_with(['"', '\'']) && text.len() >= 2;
        let (start, end) =
            if quoted && range.len() >= 3 { (range.start + 1, range.end - 1) } else { (range.start, range.end) };
        let at = |offset: usize| pieces.partition_point(|piece| piece.start <= offset).checked_sub(1);
        let (first, last) = (at(start), at(end.saturating_sub(1).max(start)));
        let Some(piece) = first.and_then(|at| pieces.get(at)) else {
            return Found { origin: self.ground.origin(0..0), outside: None };
        };
        let into = start - piece.start;
        match &piece.from {
            From::Outside(offset) => {
                let (from, until) = (offset + into, offset + into + (end - start));
                // For a scalar that ends with an action, the origin is the text before the action.
                let until = if first == last { until } else { from };
                Found { origin: self.ground.origin(from..until), outside: Some(from) }
            }
            From::Action(action, place) => {
                let was = self.ground.origin(action.clone());
                let origin = match place {
                    Some(place) if first == last => Origin::Via(Arc::new(ValueChange::new(
                        ChangedBy::Applier(place.clone()),
                        Some(was),
                        Box::default(),
                    ))),
                    _ => was,
                };
                Found { origin, outside: None }
            }
        }
    }
}

/// The output as a file for the parser.
pub(super) fn file(output: &Output) -> File {
    File::new("", output.text.as_str())
}
