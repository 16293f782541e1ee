//! A text inside a scalar, such as the YAML of `patch: |`: where its lines stand in the file.

use std::ops::Range;

use super::{Entry, Node, Value};
use crate::text::Span;

/// Where the text of a scalar stands in its file.
#[derive(Debug)]
pub struct Inside {
    outer: Span,
    /// For each line of the text, where it starts in the text, and where it starts and ends in the file. Empty when the
    /// text is not written line by line as it is: folded, or with escapes.
    lines: Vec<(usize, Range<usize>)>,
}

impl Inside {
    /// The places of a scalar's text.
    pub fn of(scalar: &Node) -> Self {
        let outer = scalar.span().clone();
        let text = scalar.text().unwrap_or_default();
        let lines = if outer.text().starts_with('|') { literal(text, &outer) } else { quoted(text, &outer) };
        Self { outer, lines }
    }

    /// The place of a range of the text; `None` where the file does not have it as it is.
    pub fn span(&self, range: Range<usize>) -> Option<Span> {
        let (start, end) = (self.offset(range.start)?, self.offset(range.end)?);
        Some(self.outer.file().span(start..end.max(start)))
    }

    /// A node that was read from the text, with its places in the file.
    pub fn node(&self, node: &Node) -> Node {
        let place = |range| self.span(range).unwrap_or_else(|| self.outer.clone());
        let value = match &node.value {
            Value::Scalar(..) => node.value.clone(),
            Value::Seq(items) => Value::Seq(items.iter().map(|item| self.node(item)).collect()),
            Value::Map(entries) => {
                let entry = |entry: &Entry| {
                    Entry::new(entry.key.clone(), &place(entry.key_span().range()), self.node(&entry.node))
                };
                Value::Map(entries.iter().map(entry).collect())
            }
        };
        Node::at(value, place(node.span().range()))
    }

    fn offset(&self, inner: usize) -> Option<usize> {
        let at = self.lines.partition_point(|(start, _)| *start <= inner).checked_sub(1)?;
        let (start, outer) = self.lines.get(at)?;
        Some((outer.start + (inner - start)).min(outer.end))
    }
}

/// The lines of a block scalar: each ends as its line in the file ends, the indentation standing before it.
fn literal(text: &str, outer: &Span) -> Vec<(usize, Range<usize>)> {
    let file = outer.file();
    let header = outer.position().line;
    let mut lines = Vec::new();
    let mut start = 0;
    for (number, line) in (1u32..).zip(text.split('\n')) {
        let Some(range) = file.line(header + number) else { break };
        let Some(written) = file.text().get(range.clone()) else { break };
        // Where a variable changed the line, only its beginning is known.
        let blank = written.len() - written.trim_start().len();
        let indent = if written.ends_with(line) { written.len() - line.len() } else { blank };
        lines.push((start, range.start + indent..range.end));
        start += line.len() + 1;
    }
    lines
}

/// The one line of a plain or quoted scalar whose text stands in the file as it is.
fn quoted(text: &str, outer: &Span) -> Vec<(usize, Range<usize>)> {
    match outer.text().find(text) {
        Some(at) if !text.contains('\n') => {
            let start = outer.range().start + at;
            vec![(0, start..start + text.len())]
        }
        _ => Vec::new(),
    }
}
