//! Documents embedded in a scalar, such as `patch: |`, with positions in the outer file.

use std::ops::Range;
use std::sync::Arc;

use arcstr::ArcStr;

use super::parser::{Document, Parsed, parse};
use crate::text::{File, Span};
use crate::yaml::tree::node::{Entry, Node, Value};
use crate::yaml::tree::origin::{ChangedBy, Name, Origin, Piece, ValueChange};

/// The text of a scalar, and the mapping from the text to its file.
#[derive(Debug)]
pub struct Embedded {
    outer: Span,
    text: ArcStr,
    /// The segments in the order of the text; empty if the file does not contain the text literally (folds, escapes).
    segments: Vec<Segment>,
    /// The parts of the text that variables expanded to.
    expansions: Vec<(Piece, ChangedBy)>,
}

/// A part of the text, and its range in the file: the same text, or the variable that expanded to the part.
#[derive(Debug)]
struct Segment {
    text: Range<usize>,
    file: Range<usize>,
    is_expanded: bool,
}

impl Embedded {
    /// Maps the text of a scalar.
    pub fn new(scalar: &Node) -> Self {
        Self::at_level(scalar, 0)
    }

    /// Maps the text of a scalar that an applier passes on. The variables of the scalar belong to the applier's parent.
    pub fn inherited(scalar: &Node) -> Self {
        Self::at_level(scalar, 1)
    }

    fn at_level(scalar: &Node, up: u8) -> Self {
        let outer = scalar.span().clone();
        let text = scalar.shared_text().unwrap_or_default();
        let expansions = expansions(&scalar.origin, up);
        let segments = if outer.text().starts_with('|') {
            literal_segments(&text, &outer, &expansions)
        } else {
            line_segments(&text, &outer, &expansions)
        };
        Self { outer, text, segments, expansions }
    }

    /// The position of the scalar.
    pub fn outer(&self) -> &Span {
        &self.outer
    }

    /// Parses the text, with the positions of nodes and findings in the outer file.
    pub fn parse(&self) -> Parsed {
        let file = self.outer.file();
        let mut parsed = parse(&File::new(file.path(), &*self.text));
        let document = |document: &Document| Document { node: self.node(&document.node), complete: document.complete };
        let documents = parsed.documents.iter().map(document).collect();
        for finding in &mut parsed.findings {
            for label in finding.related.iter_mut().map(|label| &mut label.span).chain([&mut finding.at.span]) {
                *label = self.span(label.range()).unwrap_or_else(|| self.outer.clone());
            }
        }
        Parsed { file: file.clone(), documents, findings: parsed.findings, is_cut: parsed.is_cut }
    }

    /// The position of a range of the text; `None` if the file does not contain the range literally.
    pub fn span(&self, range: Range<usize>) -> Option<Span> {
        let start = self.segment_at(range.start)?;
        let end = self.segment_at(range.end.checked_sub(1).unwrap_or(range.end).max(range.start))?;
        let start = if start.is_expanded { start.file.start } else { start.file_offset(range.start) };
        let end = if end.is_expanded { end.file.end } else { end.file_offset(range.end) };
        Some(self.outer.file().span(start..end.max(start)))
    }

    /// A node parsed from the text, with its positions in the outer file.
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
        let at = Origin::At(place(node.span().range()));
        let origin = if node.text().is_some() { self.scalar_origin(node, at) } else { at };
        Node { value, origin }
    }

    /// The origin of a scalar of the text: `at`, or a change by the variables that expanded to parts of the scalar.
    fn scalar_origin(&self, scalar: &Node, at: Origin) -> Origin {
        let (range, text) = (scalar.span().range(), scalar.text().unwrap_or_default());
        let touching = |((piece, _), _): &&(Piece, ChangedBy)| {
            (piece.start as usize) < range.end && range.start < (piece.end as usize).max(piece.start as usize + 1)
        };
        let mut touching = self.expansions.iter().filter(touching).peekable();
        let Some((_, by)) = touching.peek().copied().cloned() else { return at };
        // Quotes and escapes shift the offsets. In that case, attribute the whole scalar to the variables.
        let is_plain = scalar.span().text() == text;
        let within = |at: u32| narrow((at as usize).saturating_sub(range.start).min(text.len()));
        let pieces = touching.map(|((piece, name), _)| {
            let place = if is_plain { within(piece.start)..within(piece.end) } else { 0..narrow(text.len()) };
            (place, name.clone())
        });
        Origin::Via(Arc::new(ValueChange::new(by, Some(at), pieces.collect())))
    }

    fn segment_at(&self, at: usize) -> Option<&Segment> {
        self.segments.get(self.segments.partition_point(|segment| segment.text.start <= at).checked_sub(1)?)
    }
}

impl Segment {
    fn file_offset(&self, at: usize) -> usize {
        (self.file.start + at.saturating_sub(self.text.start)).min(self.file.end)
    }
}

fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The parts of a scalar's text that variables expanded to, in the order of the text.
fn expansions(origin: &Origin, up: u8) -> Vec<(Piece, ChangedBy)> {
    let Origin::Via(step) = origin else { return Vec::new() };
    let by = |name: &Name| match (&step.by, up) {
        (ChangedBy::Variable(_), 0) => Some(ChangedBy::Variable(name.clone())),
        (ChangedBy::Variable(_), up) => Some(ChangedBy::Inherited(name.clone(), up)),
        (ChangedBy::Inherited(_, before), up) => Some(ChangedBy::Inherited(name.clone(), before.saturating_add(up))),
        _ => None,
    };
    step.pieces.iter().filter_map(|piece| Some((piece.clone(), by(&piece.1)?))).collect()
}

/// The segments of a block scalar. Each line of the text is a line of the file after the indentation.
fn literal_segments(text: &str, outer: &Span, expansions: &[(Piece, ChangedBy)]) -> Vec<Segment> {
    let file = outer.file();
    let header = outer.position().line;
    let mut segments = Vec::new();
    let mut start = 0;
    for (number, line) in (1u32..).zip(text.split('\n')) {
        let Some(range) = file.line(header + number) else { break };
        let Some(written) = file.text().get(range.clone()) else { break };
        let blank = |line: &str| line.len() - line.trim_start().len();
        let indent = if written.ends_with(line) {
            written.len() - line.len()
        } else {
            blank(written).saturating_sub(blank(line))
        };
        let at = range.start + indent;
        segments.extend(align(line, start, written.get(indent..).unwrap_or_default(), at, expansions));
        start += line.len() + 1;
    }
    segments
}

/// The segments of a plain or quoted scalar on one line that the file contains literally, except for variables.
fn line_segments(text: &str, outer: &Span, expansions: &[(Piece, ChangedBy)]) -> Vec<Segment> {
    if text.contains('\n') {
        return Vec::new();
    }
    if let Some(at) = outer.text().find(text) {
        let start = outer.range().start + at;
        return vec![Segment { text: 0..text.len(), file: start..start + text.len(), is_expanded: false }];
    }
    let written = outer.text();
    let bare = written.strip_prefix(['"', '\'']).unwrap_or(written);
    let at = outer.range().start + (written.len() - bare.len());
    let segments = align(text, 0, bare.strip_suffix(['"', '\'']).unwrap_or(bare), at, expansions);
    if segments.iter().any(|segment| segment.is_expanded) { segments } else { Vec::new() }
}

/// Aligns a line of the text with the line of the file that expanded to the text.
///
/// The rest after the first mismatch is one segment.
fn align(line: &str, start: usize, written: &str, at: usize, expansions: &[(Piece, ChangedBy)]) -> Vec<Segment> {
    let end = start + line.len();
    let whole = |from: usize, place: usize| Segment {
        text: start + from..end,
        file: at + place..at + written.len(),
        is_expanded: false,
    };
    if line == written {
        return vec![whole(0, 0)];
    }
    let first = expansions.partition_point(|((piece, _), _)| (piece.start as usize) < start);
    let pieces = expansions.get(first..).unwrap_or_default().iter().map(|((piece, _), _)| piece);
    let (mut segments, mut from, mut place) = (Vec::new(), 0, 0);
    for piece in pieces.take_while(|piece| (piece.start as usize) < end) {
        let (piece_start, piece_end) = (piece.start as usize - start, (piece.end as usize).min(end) - start);
        let kept = line.get(from..piece_start).unwrap_or_default();
        let rest = written.get(place..).unwrap_or_default();
        let Some(variable) = rest.strip_prefix(kept).and_then(variable_len) else { break };
        let file = place + kept.len()..place + kept.len() + variable;
        if !kept.is_empty() {
            let file = at + place..at + file.start;
            segments.push(Segment { text: start + from..start + piece_start, file, is_expanded: false });
        }
        let text = start + piece_start..start + piece_end;
        segments.push(Segment { text, file: at + file.start..at + file.end, is_expanded: true });
        (from, place) = (piece_end, file.end);
    }
    segments.push(whole(from, place));
    segments
}

/// The length of the variable at the start of a text.
fn variable_len(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, letter) in text.strip_prefix('$')?.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 1 => depth -= 1,
            // The length includes `$` and this brace.
            '}' => return Some(at + 2),
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::tree::node::Style;

    fn expanded(file: &File, text: &str, pieces: &[(Range<u32>, &str)]) -> Node {
        let scalar = parse(file).documents[0].node.get("patch").unwrap().clone();
        let pieces = pieces.iter().map(|(range, name)| (range.clone(), Name::from(*name))).collect();
        let step = ValueChange::new(ChangedBy::Variable("A".into()), Some(scalar.origin), pieces);
        Node { value: Value::Scalar(text.into(), Style::Literal), origin: Origin::Via(Arc::new(step)) }
    }

    #[test]
    fn an_expanded_text_has_the_position_of_its_variable() {
        let file = File::new("a.yaml", "patch: |\n    a:\n      b: ${A}-${B:-${C}} # c\n      d: e\n");
        let outer = expanded(&file, "a:\n  b: one-two # c\n  d: e\n", &[(8..11, "A"), (12..15, "B")]);
        let inner = parse(&File::new("a.yaml", outer.text().unwrap())).documents.remove(0).node;
        let node = Embedded::inherited(&outer).node(&inner);
        let (b, d) = (node.at_keys(&["a", "b"]).unwrap(), node.at_keys(&["a", "d"]).unwrap());
        assert_eq!((b.span().text(), d.span().text()), ("${A}-${B:-${C}}", "e"));
        assert!(matches!(d.origin, Origin::At(_)));
        let Origin::Via(step) = &b.origin else { panic!("variables expanded to it") };
        assert!(matches!(&step.by, ChangedBy::Inherited(name, 1) if &**name == "A"));
        assert_eq!(step.pieces.to_vec(), [(0..3, Name::from("A")), (4..7, Name::from("B"))]);
    }

    #[test]
    fn a_node_in_a_block_scalar_has_its_line_in_the_file() {
        let file = File::new("kustomization.yaml", "patches:\n  - patch: |\n      - op: add\n        value: ö x\n");
        let patch = parse(&file).documents[0].node.get("patches").unwrap().items()[0].get("patch").unwrap().clone();
        let parsed = Embedded::new(&patch).parse();
        assert!(parsed.findings.is_empty());
        let operation = &parsed.documents[0].node.items()[0];
        let value = operation.get("value").unwrap();
        assert_eq!((value.span().text(), value.span().position().line), ("ö x", 4));
        assert_eq!(operation.entry("op").unwrap().key_span().text(), "op");
    }

    #[test]
    fn a_quoted_line_is_aligned_by_its_variables() {
        let file = File::new("a.yaml", "patch: \"{a: ${A}, b: c}\"\n");
        let outer = expanded(&file, "{a: 1, b: c}", &[(4..5, "A")]);
        let inner = parse(&File::new("a.yaml", outer.text().unwrap())).documents.remove(0).node;
        let node = Embedded::new(&outer).node(&inner);
        assert_eq!(node.get("a").unwrap().span().text(), "${A}");
        assert_eq!(node.get("b").unwrap().span().text(), "c");
    }
}
