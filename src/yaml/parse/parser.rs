//! The parser of a file. It never fails: it returns the documents that it could parse, and findings.

use granit_parser::{ErrorKind, Event, Marker, Parser, ScanError, StructureStyle};

use super::builder::Builder;
use super::collection::MAX_DEPTH;
use super::lines;
use super::repair::RepairedText;
use super::syntax_error;
use crate::base::finding::Finding;
use crate::text::File;
use crate::yaml::tree::node::Node;

/// The byte order mark, which may precede a text.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// The documents of a file, and the findings about its syntax.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The file.
    pub file: File,
    /// The documents in order, without empty documents.
    pub documents: Vec<Document>,
    /// The findings of `invalid-yaml` and `duplicate-key`, in order of their positions.
    pub findings: Vec<Finding>,
    /// Whether the file meets a limit of the parser, so that values are missing.
    pub is_cut: bool,
}

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// The root node.
    pub node: Node,
    /// Whether the document was parsed completely. After an error, the document contains the nodes before the error.
    pub complete: bool,
}

/// Parses every document of a file.
///
/// After an error, parsing continues at the next `---`.
pub fn parse(file: &File) -> Parsed {
    let mut builder = Builder::new(file);
    let mut read = Vec::new();
    let rest = lines::read(&mut builder, &mut read, start_of(file.text()));
    let documents = read.into_iter().map(|node| Document { node, complete: true }).collect();
    parse_rest(builder, documents, rest)
}

/// The offset of the first character after a byte order mark.
fn start_of(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// Parses the documents from an offset, if there are more, with the event parser.
fn parse_rest(mut builder: Builder<'_>, mut documents: Vec<Document>, rest: Option<usize>) -> Parsed {
    let file = builder.file;
    let text = file.text();
    let mut repaired = RepairedText::new(text);
    let mut next = rest;
    while let Some(start) = next {
        let stop = parse_from(&mut builder, &mut documents, &mut repaired, start);
        next = stop.and_then(|stop| stop.resume.or_else(|| next_document(text, stop)));
    }
    let (mut findings, is_cut) = (builder.findings, builder.is_cut);
    crate::base::group_findings::sort(&mut findings);
    Parsed { file: file.clone(), documents, findings, is_cut }
}

impl Parsed {
    /// The documents as those of another file with the same text, without parsing it.
    ///
    /// Returns `None` if the text needs its own parse: it has findings, or anchors whose nodes several places share.
    pub fn of_copy(&self, file: &File) -> Option<Self> {
        if !self.findings.is_empty() || self.file.text().contains('&') {
            return None;
        }
        let documents = self.documents.iter();
        let of_copy = |one: &Document| Document { node: one.node.of_copy(file), complete: one.complete };
        Some(Self {
            file: file.clone(),
            documents: documents.map(of_copy).collect(),
            findings: Vec::new(),
            is_cut: false,
        })
    }
}

/// The position at which parsing stopped.
#[derive(Clone, Copy)]
struct Stop {
    /// The start of the document that has the error.
    document: usize,
    /// The position of the error.
    at: usize,
    /// The position at which parsing continues, if there was no error.
    resume: Option<usize>,
}

/// The offset of the next `---` line, at which parsing can resume.
fn next_document(text: &str, stop: Stop) -> Option<usize> {
    let before = text.get(..stop.at).unwrap_or(text);
    // The error may be on the line that starts the next document.
    let line = before.rfind('\n').unwrap_or(0);
    let mut at = line.max(stop.document);
    loop {
        at += text.get(at..)?.find("\n---")? + 1;
        if text.get(at + 3..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])) {
            return Some(at);
        }
    }
}

/// The reason why a run of the event parser stopped.
enum Obstacle {
    /// A byte order mark at this offset.
    ByteOrderMark(usize),
    /// An alias whose name ends in a colon. The alias ends at this offset.
    Alias(usize),
    /// The file has too many nodes; reading stops at this offset.
    Full(usize),
    /// A collection at this offset is below too many others. The event parser counts flow and block collections apart.
    Deep(usize),
    /// An error at this offset.
    Error(usize, ScanError),
}

/// Parses from an offset to the end, or to the first error.
fn parse_from(
    builder: &mut Builder<'_>,
    documents: &mut Vec<Document>,
    repaired: &mut RepairedText<'_>,
    base: usize,
) -> Option<Stop> {
    let (document, obstacle) = parse_events(builder, documents, repaired, base)?;
    let (at, error) = match obstacle {
        Obstacle::ByteOrderMark(at) => {
            return Some(Stop { document, at, resume: Some(at + BYTE_ORDER_MARK.len_utf8()) });
        }
        Obstacle::Alias(end) => {
            repaired.repair_alias(end);
            repaired.count(end.saturating_sub(document));
            builder.restart_document();
            return Some(Stop { document, at: end, resume: Some(document) });
        }
        Obstacle::Full(at) => {
            builder.reject_rest(at);
            documents.extend(builder.abandon().map(|node| Document { node, complete: false }));
            return None;
        }
        Obstacle::Deep(at) => {
            builder.is_cut = true;
            let context = builder.error_context();
            let finding = syntax_error::explain(builder.file, at, &ErrorKind::RecursionLimitExceeded, &context);
            builder.findings.push(finding);
            documents.extend(builder.abandon().map(|node| Document { node, complete: false }));
            return Some(Stop { document, at, resume: None });
        }
        Obstacle::Error(at, error) => (at, error),
    };
    let context = builder.error_context();
    if repaired.repair(builder.file.text(), at, error.kind(), &context) {
        repaired.count(at.saturating_sub(document));
        builder.restart_document();
        return Some(Stop { document, at, resume: Some(document) });
    }
    builder.is_cut |= matches!(error.kind(), ErrorKind::RecursionLimitExceeded);
    builder.findings.push(syntax_error::explain(builder.file, at, error.kind(), &context));
    documents.extend(builder.abandon().map(|node| Document { node, complete: false }));
    Some(Stop { document, at, resume: None })
}

/// Parses from an offset, and returns the obstacle at which parsing stopped, with the start of its document.
fn parse_events(
    builder: &mut Builder<'_>,
    documents: &mut Vec<Document>,
    repaired: &RepairedText<'_>,
    base: usize,
) -> Option<(usize, Obstacle)> {
    let text = repaired.from(base)?;
    let start = repaired.repaired(base);
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut document = base;
    builder.start_document(base);
    let offset = |marker: &Marker| repaired.original(start + marker.byte_offset().unwrap_or(0));
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = match event {
            Ok(pair) => pair,
            Err(error) => {
                let at = offset(error.marker());
                // A file may be a concatenation of files that each start with a byte order mark.
                let before = builder.file.text().get(document..at).unwrap_or_default();
                let rest = builder.file.text().get(at..).unwrap_or_default();
                if rest.starts_with(BYTE_ORDER_MARK) && before.trim_end() == "---" {
                    return Some((document, Obstacle::ByteOrderMark(at)));
                }
                return Some((document, Obstacle::Error(at, error)));
            }
        };
        let range = offset(&span.start)..offset(&span.end);
        if builder.is_full() {
            return Some((document, Obstacle::Full(range.start)));
        }
        match event {
            Event::DocumentStart(..) => {
                document = range.start;
                builder.start_document(range.end);
            }
            Event::DocumentEnd => {
                documents.extend(builder.finish().map(|node| Document { node, complete: true }));
            }
            Event::Scalar(value, style, anchor, tag) => builder.scalar(&value, style, anchor, tag.as_deref(), range),
            Event::SequenceStart(..) | Event::MappingStart(..) if builder.is_deep() => {
                return Some((document, Obstacle::Deep(range.start)));
            }
            Event::SequenceStart(style, anchor, _) => builder.open_seq(style == StructureStyle::Flow, anchor, range),
            Event::MappingStart(style, anchor, _) => builder.open_map(style == StructureStyle::Flow, anchor, range),
            Event::SequenceEnd | Event::MappingEnd => builder.close(&range),
            Event::Alias(id) => builder.alias(id, range),
            Event::UnresolvedAlias(name) if name.ends_with(':') && repaired.may_repair() => {
                return Some((document, Obstacle::Alias(range.end)));
            }
            Event::UnresolvedAlias(_) => builder.unknown_alias(range),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, Strategy, any, prop};
    use proptest::{prop_assert_eq, prop_oneof, proptest};

    use super::*;

    fn shown(parsed: &Parsed) -> String {
        format!("{:?}", (&parsed.documents, &parsed.findings, parsed.is_cut))
    }

    fn by_events(file: &File) -> Parsed {
        parse_rest(Builder::new(file), Vec::new(), Some(start_of(file.text())))
    }

    /// A line of a document, or a part of it.
    fn line() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            3 => prop::sample::select(vec!["a: ", "b: ", "c:", "- ", "- ", "-", "a", "b c", "1"]).prop_map(str::to_owned),
            1 => prop::sample::select(vec![
                "|", ">", "|-", ">-", "|+", "|2", ">1-", "\"e\\", "\\ ", "\\u00e9", "    ", "&f g", "&f", "*f", "&f-g '", "&f \"", "#", " #", " # d", "'e f'", "\"g h\"", "'", "\"", "\"i\\n\"", "'j''k'", "[]", "{}",
                "[a, 'b']", "[a,", "b]", "{a: b,", "c: d}", "{\"a\":", "\"b\"}",  "{\n", "[\n", "\n]", "\n  }", ",\n", "{a: b, c: {d: e}}", "[", "]", "{", "}", ",", ":", "?", "? ", "&f ", "*f", "!!str ", "<<: ",
                "---", "...", "--- ", "%a", "\t", "\r", "é", "\u{2028}", "\u{FEFF}", "\\", "@", "`", "~", "null",
                "http://a.b", "a:b", "a#b", "\"x: ", "'y # ",
            ]).prop_map(str::to_owned),
        ];
        (0..4_usize, 0..2_usize, prop::collection::vec(part, 0..4), any::<bool>()).prop_map(
            |(deep, odd, parts, blank)| {
                let end = if blank && parts.is_empty() { "  " } else { "" };
                format!("{}{}{end}\n", " ".repeat(deep * 2 + odd * usize::from(deep > 2)), parts.concat())
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        #[test]
        fn the_reader_of_lines_builds_the_nodes_of_the_event_parser(lines in prop::collection::vec(line(), 0..8), is_cut in any::<bool>()) {
            let mut text = lines.concat();
            if is_cut {
                text.pop();
            }
            let file = File::new("a.yaml", text);
            prop_assert_eq!(shown(&parse(&file)), shown(&by_events(&file)));
        }
    }
}
