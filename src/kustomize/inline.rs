//! YAML inside a scalar of YAML, such as `patch: |`: its nodes get their places in the outer file.

use crate::text::{File, Span};
use crate::yaml::{Document, Entry, Node, Style, Value, parse};

/// The documents in a scalar's text, and what is wrong with them, each at its place in the scalar's file.
pub(super) fn parse_inside(scalar: &Node) -> (Vec<Document>, Vec<crate::finding::Finding>) {
    let Value::Scalar(text, style) = &scalar.value else { return (Vec::new(), Vec::new()) };
    let inner = File::new(scalar.span().file().path(), text.to_string());
    let parsed = parse(&inner);
    let places = Places::new(text, *style, scalar.span());
    let documents = parsed.documents.iter();
    let documents =
        documents.map(|document| Document { node: places.node(&document.node), complete: document.complete }).collect();
    let findings = parsed.findings.into_iter().map(|mut finding| {
        finding.at.span = places.span(&finding.at.span);
        for label in &mut finding.related {
            label.span = places.span(&label.span);
        }
        finding
    });
    (documents, findings.collect())
}

/// Where the lines of a scalar's text stand in its file.
struct Places<'a> {
    outer: &'a Span,
    /// For each line of the text, where it starts in the text and in the file. Empty when the text is not written
    /// line by line as it is: folded, or with escapes.
    lines: Vec<(usize, usize)>,
}

impl<'a> Places<'a> {
    fn new(text: &str, style: Style, outer: &'a Span) -> Self {
        let lines = match style {
            Style::Literal => literal_lines(text, outer),
            _ => quoted_line(text, outer),
        };
        Self { outer, lines }
    }

    fn span(&self, inner: &Span) -> Span {
        let range = inner.range();
        let (Some(start), Some(end)) = (self.offset(range.start), self.offset(range.end)) else {
            return self.outer.clone();
        };
        self.outer.file().span(start..end.max(start))
    }

    fn offset(&self, inner: usize) -> Option<usize> {
        let at = self.lines.partition_point(|(start, _)| *start <= inner).checked_sub(1)?;
        let (start, outer) = self.lines.get(at)?;
        Some(outer + (inner - start))
    }

    fn node(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Scalar(..) => node.value.clone(),
            Value::Seq(items) => Value::Seq(items.iter().map(|item| self.node(item)).collect()),
            Value::Map(entries) => {
                let entry = |entry: &Entry| {
                    Entry::new(entry.key.clone(), &self.span(&entry.key_span()), self.node(&entry.node))
                };
                Value::Map(entries.iter().map(entry).collect())
            }
        };
        Node::at(value, self.span(node.span()))
    }
}

/// The lines of a block scalar: each ends as its line in the file ends, the indentation standing before it.
fn literal_lines(text: &str, outer: &Span) -> Vec<(usize, usize)> {
    let file = outer.file();
    let header = outer.position().line;
    let mut lines = Vec::new();
    let mut start = 0;
    for (number, line) in (1u32..).zip(text.split('\n')) {
        let Some(range) = file.line(header + number) else { break };
        let Some(written) = file.text().get(range.clone()) else { break };
        // The last, empty piece of the text has no line of its own.
        let indent = if written.ends_with(line) { written.len() - line.len() } else { 0 };
        lines.push((start, range.start + indent));
        start += line.len() + 1;
    }
    lines
}

/// The one line of a plain or quoted scalar whose text stands in the file as it is.
fn quoted_line(text: &str, outer: &Span) -> Vec<(usize, usize)> {
    match outer.text().find(text) {
        Some(at) if !text.contains('\n') => vec![(0, outer.range().start + at)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_inside_a_block_scalar_stands_at_its_line_in_the_file() {
        let file = File::new("kustomization.yaml", "patches:\n  - patch: |\n      - op: add\n        value: ö x\n");
        let parsed = parse(&file);
        let patch = parsed.documents[0].node.get("patches").unwrap().items()[0].get("patch").unwrap().clone();
        let (documents, findings) = parse_inside(&patch);
        assert!(findings.is_empty());
        let value = documents[0].node.items()[0].get("value").unwrap();
        assert_eq!((value.span().text(), value.span().position().line), ("ö x", 4));
        let entry = documents[0].node.items()[0].entry("op").unwrap();
        assert_eq!(entry.key_span().text(), "op");
    }
}
