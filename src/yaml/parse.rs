//! Text → nodes. Never fails: it returns what it could read, plus findings.

use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::{Entry, Name, Node, Style, Value};
use crate::finding::Finding;
use crate::text::{File, Index, Span};

/// The rule of findings about text that is no YAML.
pub const INVALID_YAML: &str = "invalid-yaml";
/// The rule of findings about keys that stand twice.
pub const DUPLICATE_KEY: &str = "duplicate-key";

/// Collections may nest this deep; the nodes of one file stay shallow enough for every recursion over them.
const MAX_DEPTH: usize = 128;
/// Aliases may expand a file to this many nodes in all.
const MAX_ALIASED_NODES: usize = 500_000;

/// What a file says, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The file.
    pub file: File,
    /// Its documents in order; those without content are left out.
    pub documents: Vec<Document>,
    /// `invalid-yaml` and `duplicate-key`, in order of their places.
    pub findings: Vec<Finding>,
}

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its root.
    pub node: Node,
    /// Whether all of it was read; after an error, a document holds what stood before it.
    pub complete: bool,
}

/// Reads every document of a file.
pub fn parse(file: &File) -> Parsed {
    let mut reader = Reader { file, documents: Vec::new(), findings: Vec::new(), names: Index::default(), expanded: 0 };
    let text = file.text();
    let mut start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    while let Some(failed_at) = reader.read_from(start) {
        let Some(next) = next_document(text, failed_at.max(start)) else { break };
        start = next;
    }
    let Reader { documents, mut findings, .. } = reader;
    crate::finding::sort(&mut findings);
    Parsed { file: file.clone(), documents, findings }
}

/// The offset of the next `---` line after `from`, where reading can start again.
fn next_document(text: &str, from: usize) -> Option<usize> {
    let mut at = text.floor_char_boundary(from);
    loop {
        at += text.get(at..)?.find("\n---")? + 1;
        if text.get(at + 3..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])) {
            return Some(at);
        }
    }
}

struct Reader<'a> {
    file: &'a File,
    documents: Vec<Document>,
    findings: Vec<Finding>,
    names: Index<String, Name>,
    expanded: usize,
}

/// A collection that is still open.
struct Open {
    start: usize,
    anchor: usize,
    style: StructureStyle,
    /// Where its last child ends: the end span of a block collection runs on into what follows.
    end: usize,
    kind: OpenKind,
}

enum OpenKind {
    Seq(Vec<Node>),
    Map { entries: Vec<Entry>, merges: Vec<Entry>, seen: Index<Name, Span>, key: Option<PendingKey> },
}

enum PendingKey {
    Named(Name, Span),
    /// A key that is no scalar: its value is read and dropped.
    Dropped,
}

impl Reader<'_> {
    /// Reads from an offset to the end, or to the first error, whose offset is returned.
    fn read_from(&mut self, base: usize) -> Option<usize> {
        let text = self.file.text().get(base..)?;
        let options = granit_parser::options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let mut stack: Vec<Open> = Vec::new();
        let mut root: Option<Node> = None;
        let mut anchors: Index<usize, Node> = Index::default();
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = match event {
                Ok(pair) => pair,
                Err(error) => {
                    let at = base + error.marker().byte_offset().unwrap_or(0);
                    self.invalid(at, &error);
                    while let Some(open) = stack.pop() {
                        let node = self.close(open);
                        self.place(&mut stack, &mut root, node);
                    }
                    self.finish(root.take(), false);
                    return Some(at);
                }
            };
            let at = |marker: &granit_parser::Marker| base + marker.byte_offset().unwrap_or(0);
            let range = at(&span.start)..at(&span.end);
            match event {
                Event::DocumentEnd => self.finish(root.take(), true),
                Event::Scalar(value, style, anchor, tag) => {
                    let empty = range.is_empty() && style == ScalarStyle::Plain;
                    let text: Arc<str> = if empty { "".into() } else { (&*value).into() };
                    let style = scalar_style(style, tag.as_deref());
                    let node = Node::scalar(text, style, self.file.span(self.scalar_range(range, style)));
                    if anchor != 0 {
                        anchors.insert(anchor, node.clone());
                    }
                    self.place(&mut stack, &mut root, node);
                }
                Event::SequenceStart(style, anchor, _) => {
                    let kind = OpenKind::Seq(Vec::new());
                    stack.push(Open { start: range.start, end: range.end, anchor, style, kind });
                }
                Event::MappingStart(style, anchor, _) => {
                    let kind =
                        OpenKind::Map { entries: Vec::new(), merges: Vec::new(), seen: Index::default(), key: None };
                    stack.push(Open { start: range.start, end: range.end, anchor, style, kind });
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(mut open) = stack.pop() else { continue };
                    if open.style == StructureStyle::Flow {
                        open.end = range.end;
                    }
                    let anchor = open.anchor;
                    let node = self.close(open);
                    if anchor != 0 {
                        anchors.insert(anchor, node.clone());
                    }
                    self.place(&mut stack, &mut root, node);
                }
                Event::Alias(id) => {
                    let span = self.file.span(range);
                    let node = self.alias(anchors.get(&id), span);
                    self.place(&mut stack, &mut root, node);
                }
                Event::UnresolvedAlias(name) => {
                    let span = self.file.span(range);
                    let message = format!("alias `*{name}` names no anchor of this document");
                    self.findings.push(Finding::error(INVALID_YAML, span.clone(), message));
                    self.place(&mut stack, &mut root, Node::scalar("", Style::Plain, span));
                }
                _ => {}
            }
        }
        None
    }

    fn finish(&mut self, root: Option<Node>, complete: bool) {
        let Some(node) = root else { return };
        if !node.is_null() {
            self.documents.push(Document { node, complete });
        }
    }

    /// Puts a finished node where it belongs: under the open collection, or at the root.
    fn place(&mut self, stack: &mut [Open], root: &mut Option<Node>, node: Node) {
        let Some(open) = stack.last_mut() else {
            *root = Some(node);
            return;
        };
        open.end = open.end.max(node.span().range().end);
        match &mut open.kind {
            OpenKind::Seq(items) => items.push(node),
            OpenKind::Map { entries, merges, seen, key } => match key.take() {
                None => *key = Some(self.key(&node)),
                Some(PendingKey::Dropped) => {}
                Some(PendingKey::Named(name, span)) if &*name == "<<" => merges.push(Entry::new(name, &span, node)),
                Some(PendingKey::Named(name, span)) => {
                    if let Some(first) = seen.get(&name) {
                        let message = format!("key `{name}` stands twice in this mapping");
                        let finding = Finding::error(DUPLICATE_KEY, span, message)
                            .related(first.clone(), "first here")
                            .help("keep one of them; Flux and kustomize refuse the file");
                        self.findings.push(finding);
                    } else {
                        seen.insert(name.clone(), span.clone());
                        entries.push(Entry::new(name, &span, node));
                    }
                }
            },
        }
    }

    fn key(&mut self, node: &Node) -> PendingKey {
        let span = node.span().clone();
        if let Some(text) = node.shared_text() {
            return PendingKey::Named(self.name(text), span);
        }
        let message = "a mapping's key is a collection; Kubernetes' readers accept scalars only";
        self.findings.push(Finding::error(INVALID_YAML, span, message));
        PendingKey::Dropped
    }

    fn name(&mut self, text: Name) -> Name {
        if let Some(name) = self.names.get(&*text) {
            return name.clone();
        }
        self.names.insert(text.to_string(), text.clone());
        text
    }

    fn close(&mut self, open: Open) -> Node {
        let span = self.file.span(open.start..open.end.max(open.start));
        let value = match open.kind {
            OpenKind::Seq(items) => Value::Seq(items.into()),
            OpenKind::Map { mut entries, merges, mut seen, key } => {
                // After an error a key may be left without its value.
                if let Some(PendingKey::Named(name, span)) = key {
                    let node = Node::scalar("", Style::Plain, self.file.span(span.range().end..span.range().end));
                    entries.push(Entry::new(name, &span, node));
                }
                for merge in &merges {
                    self.merge(merge, &mut entries, &mut seen);
                }
                Value::Map(entries.into())
            }
        };
        Node::at(value, span)
    }

    /// Adds what `<<` brings: keys that the mapping does not have itself, the first of several sources winning.
    fn merge(&mut self, merge: &Entry, entries: &mut Vec<Entry>, seen: &mut Index<Name, Span>) {
        let sources = if merge.node.is_seq() { merge.node.items() } else { std::slice::from_ref(&merge.node) };
        for source in sources {
            if !source.is_map() {
                let message = "`<<` merges mappings only";
                self.findings.push(Finding::error(INVALID_YAML, source.span().clone(), message));
            }
            for entry in source.entries() {
                if !seen.contains(&entry.key) {
                    seen.insert(entry.key.clone(), entry.key_span());
                    entries.push(entry.clone());
                }
            }
        }
    }

    /// The value of an alias: its content is the anchor's, its own place is the alias.
    fn alias(&mut self, target: Option<&Node>, span: Span) -> Node {
        let Some(target) = target else {
            let message = "this alias stands inside its own anchor";
            self.findings.push(Finding::error(INVALID_YAML, span.clone(), message));
            return Node::scalar("", Style::Plain, span);
        };
        self.expanded = self.expanded.saturating_add(target.size());
        if self.expanded > MAX_ALIASED_NODES {
            let message = format!("the aliases of this file expand to more than {MAX_ALIASED_NODES} nodes");
            self.findings.push(Finding::error(INVALID_YAML, span.clone(), message));
            return Node::scalar("", Style::Plain, span);
        }
        Node::at(target.value.clone(), span)
    }

    /// The range of a scalar's token: a block scalar's starts at its header and ends with its last line.
    fn scalar_range(&self, range: Range<usize>, style: Style) -> Range<usize> {
        if !matches!(style, Style::Literal | Style::Folded) {
            return range;
        }
        let text = self.file.text();
        let before = text.get(..range.start).unwrap_or("");
        let start = before.rfind(['|', '>']).unwrap_or(range.start);
        let end = text.get(start..range.end).map_or(range.end, |token| start + token.trim_end().len());
        start..end.max(start)
    }

    fn invalid(&mut self, at: usize, error: &granit_parser::ScanError) {
        let text = self.file.text();
        let at = text.floor_char_boundary(at.min(text.len()));
        let line = self.file.position(at).line;
        let range = self.file.line(line).unwrap_or(at..at);
        let indent =
            text.get(range.clone()).map_or("", |line| line.get(..line.len() - line.trim_start().len()).unwrap_or(""));
        let finding = if let Some(tab) = indent.find('\t') {
            let span = self.file.span(range.start + tab..range.start + tab + 1);
            Finding::error(INVALID_YAML, span, "a tab in the indentation: YAML allows spaces only")
                .help("replace each tab by two spaces")
        } else {
            let end =
                text.get(at..range.end.max(at)).map_or(at, |rest| at + rest.chars().next().map_or(0, char::len_utf8));
            let message = format!("this is no YAML: {}", error.info());
            Finding::error(INVALID_YAML, self.file.span(at..end), message)
        };
        self.findings.push(finding);
    }
}

/// The style that decides a scalar's type: a tag that says "string" quotes, one that says another type unquotes.
fn scalar_style(style: ScalarStyle, tag: Option<&granit_parser::Tag>) -> Style {
    let written = match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    };
    let Some(tag) = tag else { return written };
    if !matches!(tag.handle(), "tag:yaml.org,2002:" | "!!") {
        return if written == Style::Plain { Style::Single } else { written };
    }
    match tag.suffix() {
        "int" | "float" | "bool" | "null" => Style::Plain,
        _ if written == Style::Plain => Style::Single,
        _ => written,
    }
}
