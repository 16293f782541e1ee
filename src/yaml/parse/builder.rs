//! The construction of nodes from the events of the parser.

use std::ops::Range;

use arcstr::ArcStr;
use granit_parser::{ScalarStyle, Tag};
use memchr::memchr;

use super::collection::{CollectionKind, MAX_DEPTH, MeasuredNode, OpenCollection, OpenMapping, PendingKey};
use super::rule_ids::{DUPLICATE_KEY, INVALID_YAML};
use super::syntax_error::ErrorContext;
use super::tag::apply_tag;
use super::token;
use crate::base::finding::{Finding, Fix, Safety};
use crate::text::{Edit, File, Index, Span};
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::tree::node::{Entry, Node, Style, Value};
use crate::yaml::tree::origin::Name;

/// The maximum number of nodes that the aliases of a file may expand to.
const MAX_ALIASED_NODES: usize = 100_000;

/// The maximum number of nodes of a file. A node needs some sixty bytes of memory, and a flow list two bytes of text.
const MAX_NODES: usize = 1_000_000;

/// The maximum number of findings of a file.
const MAX_FINDINGS: usize = 10_000;

/// Builds the nodes of a file, document by document.
pub(super) struct Builder<'a> {
    pub(super) file: &'a File,
    pub(super) findings: Vec<Finding>,
    /// Whether the file meets a limit.
    pub(super) is_cut: bool,
    /// Whether the file contains a tab. Nearly all files contain none.
    has_tabs: bool,
    names: Index<Name, Name>,
    aliased_nodes: usize,
    nodes: usize,
    anchors: Index<usize, MeasuredNode>,
    stack: Vec<OpenCollection>,
    root: Option<Node>,
    /// The end of the last token.
    last_end: usize,
    /// The number of findings, and of aliased nodes, before the document.
    before_document: (usize, usize, usize),
}

impl<'a> Builder<'a> {
    pub(super) fn new(file: &'a File) -> Self {
        Self {
            file,
            findings: Vec::new(),
            is_cut: false,
            has_tabs: memchr(b'\t', file.text().as_bytes()).is_some(),
            names: Index::default(),
            aliased_nodes: 0,
            nodes: 0,
            anchors: Index::default(),
            stack: Vec::new(),
            root: None,
            last_end: 0,
            before_document: (0, 0, 0),
        }
    }

    /// Starts a document whose content follows `at`.
    pub(super) fn start_document(&mut self, at: usize) {
        self.last_end = at;
        self.anchors = Index::default();
        self.before_document = (self.findings.len(), self.aliased_nodes, self.nodes);
    }

    /// Discards the unfinished document, which is parsed again.
    pub(super) fn restart_document(&mut self) {
        let (findings, aliased_nodes, nodes) = self.before_document;
        self.findings.truncate(findings);
        (self.aliased_nodes, self.nodes) = (aliased_nodes, nodes);
        self.stack.clear();
        self.root = None;
    }

    /// Returns whether the file has more nodes than are read, or more findings than are kept.
    pub(super) fn is_full(&self) -> bool {
        self.nodes > MAX_NODES || self.findings.len() > MAX_FINDINGS
    }

    /// Returns whether the open collections are as deep as they may be.
    pub(super) fn is_deep(&self) -> bool {
        self.stack.len() >= MAX_DEPTH
    }

    /// Reports that the rest of the file is not read.
    pub(super) fn reject_rest(&mut self, at: usize) {
        let (count, noun) = if self.nodes > MAX_NODES { (MAX_NODES, "values") } else { (MAX_FINDINGS, "faults") };
        let message = format!("the file has more than {count} {noun}; the rest is not read");
        self.is_cut = true;
        let finding = Finding::error(INVALID_YAML, self.file.span(at..at), message).help("split the file");
        self.findings.push(finding);
    }

    /// Ends the document and returns its root node; `None` if the document is empty.
    pub(super) fn finish(&mut self) -> Option<Node> {
        self.root.take().filter(|node| !node.is_null())
    }

    /// Ends the document at an error and returns the nodes before the error.
    pub(super) fn abandon(&mut self) -> Option<Node> {
        while let Some(open) = self.stack.pop() {
            let built = self.finish_collection(open);
            self.add_node(built, true);
        }
        self.finish()
    }

    /// The context that the message of a syntax error needs.
    pub(super) fn error_context(&self) -> ErrorContext {
        let flow = self.stack.iter().rev().find(|open| open.flow).map(|open| open.start);
        let block_seq = self.stack.last().is_some_and(|open| !open.flow && matches!(open.kind, CollectionKind::Seq(_)));
        ErrorContext { last_end: self.last_end, flow, block_seq }
    }

    pub(super) fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) {
        let text = self.file.text();
        let gap = self.last_end;
        let empty = range.is_empty() && style == ScalarStyle::Plain;
        let written = written_style(style);
        let (value, range) = match written {
            _ if empty => {
                // The position of an empty key is directly before its colon.
                let at = if self.wants_key() { range.start } else { token::empty_value(text, gap..range.start) };
                let at = self.stack.last().map_or(at, |open| at.max(open.start));
                ("", at..at)
            }
            Style::Literal | Style::Folded => {
                let range = token::block_scalar(text, gap, range, value);
                self.check_indentation(&range, value);
                (token::without_final_break(text, &range, value), range)
            }
            _ => (value, range),
        };
        self.last_end = self.last_end.max(range.end);
        if !empty {
            self.check_tab(range.start);
        }
        if anchor != 0 {
            self.check_anchor(gap, range.start);
        }
        if written == Style::Double && value.contains('/') {
            self.check_slash(&range);
        }
        let span = self.file.span(range);
        let tagged = apply_tag(value, written, tag);
        if let Some(message) = tagged.error {
            let finding = Finding::error(INVALID_YAML, span.clone(), message)
                .help("remove the tag, or write a value of its type; Kubernetes and kustomize reject the file");
            self.findings.push(finding);
        }
        if anchor == 0 && self.wants_key() {
            let name = self.intern(&tagged.text);
            return self.add_scalar_key(name, span, tagged.style == Style::Plain);
        }
        let text = if self.wants_key() { self.intern(&tagged.text) } else { ArcStr::from(&*tagged.text) };
        let built = MeasuredNode { node: Node::scalar(text, tagged.style, span), size: 1, height: 0 };
        self.define_anchor(anchor, &built);
        self.add_node(built, tagged.style == Style::Plain);
    }

    pub(super) fn open_seq(&mut self, flow: bool, anchor: usize, range: Range<usize>) {
        // For a sequence with the indentation of its key, the parser reports a start after the first dash.
        let value = self
            .stack
            .last()
            .is_some_and(|open| matches!(&open.kind, CollectionKind::Map(map) if !open.flow && map.key.is_some()));
        let start =
            if value && !flow { token::first_dash(self.file.text(), self.last_end, range.start) } else { range.start };
        self.open(flow, anchor, start, &range, CollectionKind::Seq(Vec::new()));
    }

    pub(super) fn open_map(&mut self, flow: bool, anchor: usize, range: Range<usize>) {
        self.open(flow, anchor, range.start, &range, CollectionKind::Map(OpenMapping::default()));
    }

    fn open(&mut self, flow: bool, anchor: usize, start: usize, range: &Range<usize>, kind: CollectionKind) {
        self.check_tab(start);
        if anchor != 0 {
            self.check_anchor(self.last_end, start);
        }
        if flow {
            self.last_end = self.last_end.max(range.end);
        }
        // A block collection ends with its last child.
        let end = if flow { range.end } else { start };
        self.stack.push(OpenCollection { start, end, flow, anchor, size: 1, height: 0, kind });
    }

    pub(super) fn close(&mut self, range: &Range<usize>) {
        let Some(mut open) = self.stack.pop() else { return };
        if open.flow {
            open.end = range.end;
            self.last_end = self.last_end.max(range.end);
        }
        let anchor = open.anchor;
        let built = self.finish_collection(open);
        self.define_anchor(anchor, &built);
        self.add_node(built, false);
    }

    /// Adds the value of an alias: the content of the anchor, at the position of the alias.
    pub(super) fn alias(&mut self, id: usize, range: Range<usize>) {
        self.last_end = self.last_end.max(range.end);
        let span = self.file.span(range);
        let Some(target) = self.anchors.get(&id).cloned() else {
            return self.reject_alias(span, "this alias is inside its own anchor".into());
        };
        let is_reported = self.aliased_nodes > MAX_ALIASED_NODES;
        self.aliased_nodes = self.aliased_nodes.saturating_add(target.size);
        if is_reported {
            return self.add_null(span);
        }
        if self.aliased_nodes > MAX_ALIASED_NODES {
            let message = format!("the aliases of this file expand to more than {MAX_ALIASED_NODES} nodes");
            return self.reject_alias(span, message);
        }
        if self.stack.len() + target.height > MAX_DEPTH {
            let message = format!("this alias nests collections more than {MAX_DEPTH} levels deep");
            return self.reject_alias(span, message);
        }
        self.add_node(MeasuredNode { node: Node::at(target.node.value, span), ..target }, false);
    }

    pub(super) fn unknown_alias(&mut self, range: Range<usize>) {
        self.last_end = self.last_end.max(range.end);
        let span = self.file.span(range);
        // A password may start with `*`, so the message does not contain the text.
        let message = "this alias references an anchor that is not defined before it in this document";
        let help = "mark the value to repeat with `&` and the name, or quote the alias if it is text";
        let finding = Finding::error(INVALID_YAML, span.clone(), message).help(help);
        self.findings.push(finding);
        self.add_node(MeasuredNode { node: Node::scalar("", Style::Plain, span), size: 1, height: 0 }, false);
    }

    fn reject_alias(&mut self, span: Span, message: String) {
        self.is_cut = true;
        self.findings.push(Finding::error(INVALID_YAML, span.clone(), message));
        self.add_null(span);
    }

    fn add_null(&mut self, span: Span) {
        self.add_node(MeasuredNode { node: Node::scalar("", Style::Plain, span), size: 1, height: 0 }, false);
    }

    fn define_anchor(&mut self, anchor: usize, built: &MeasuredNode) {
        if anchor != 0 {
            self.anchors.insert(anchor, built.clone());
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(OpenCollection { kind: CollectionKind::Map(map), .. }) if map.key.is_none())
    }

    /// Adds a finished node to the open collection. Without an open collection, the node becomes the root.
    fn add_node(&mut self, built: MeasuredNode, plain: bool) {
        self.nodes += 1;
        if self.wants_key() {
            return self.add_key(&built.node, plain);
        }
        let node = built.node;
        let path = self.file.path();
        let is_top = self.stack.len() == 1;
        let Some(open) = self.stack.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.end = open.end.max(node.span().range().end);
        open.size += built.size;
        open.height = open.height.max(built.height);
        let map = match &mut open.kind {
            CollectionKind::Seq(items) => return items.push(node),
            CollectionKind::Map(map) => map,
        };
        match map.key.take() {
            None | Some(PendingKey::Dropped) => {}
            Some(PendingKey::Merge(span)) => {
                if let Some(first) = &map.merge_key {
                    self.findings.push(
                        duplicate("<<", span, first.clone()).help("write `<<: [*a, *b]` to merge several mappings"),
                    );
                } else {
                    map.merge_key = Some(span);
                }
                map.merges.push(node);
            }
            Some(PendingKey::Named(name, span)) => {
                if let Some(first) = map.find(&name).map(Entry::key_span) {
                    map.repeats_object |= is_top && *name == *"apiVersion";
                    let help = if map.repeats_object { SECOND_OBJECT } else { KEEP_ONE };
                    self.findings.push(duplicate(&name, span.clone(), first).help(help).caused_by(
                        format!("{path}:{}", open.start),
                        "",
                        " keys of this mapping are defined twice",
                    ));
                    // Readers that accept duplicates use the last value, as kustomize does in `kustomization.yaml`.
                    map.replace(Entry::new(name, &span, node));
                } else {
                    map.push(Entry::new(name, &span, node));
                }
            }
        }
    }

    fn add_key(&mut self, node: &Node, plain: bool) {
        let span = node.span().clone();
        if let Some(text) = node.text() {
            let name = self.intern(text);
            return self.add_scalar_key(name, span, plain);
        }
        self.findings.push(token::template_at(&span).unwrap_or_else(|| {
            let message = "the key of a mapping is a collection";
            Finding::error(INVALID_YAML, span.clone(), message)
                .help("write a scalar; the YAML readers of Kubernetes accept only scalar keys")
        }));
        self.set_key(PendingKey::Dropped, &span);
    }

    fn add_scalar_key(&mut self, name: Name, span: Span, plain: bool) {
        let place = span.clone();
        if plain && resolve_plain(&name, Reader::Core) == Scalar::Null {
            let finding = Finding::error(INVALID_YAML, span.clone(), "the key of a mapping is null")
                .help("quote the key; Kubernetes rejects the file, and kustomize drops the entry");
            self.findings.push(finding);
        }
        let key = if plain && &*name == "<<" { PendingKey::Merge(span) } else { PendingKey::Named(name, span) };
        self.set_key(key, &place);
    }

    fn set_key(&mut self, key: PendingKey, span: &Span) {
        if let Some(OpenCollection { kind: CollectionKind::Map(map), end, .. }) = self.stack.last_mut() {
            map.key = Some(key);
            *end = (*end).max(span.range().end);
        }
    }

    fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(name.clone(), name.clone());
        name
    }

    fn finish_collection(&mut self, open: OpenCollection) -> MeasuredNode {
        let span = self.file.span(open.start..open.end.max(open.start));
        let mut size = open.size;
        let value = match open.kind {
            CollectionKind::Seq(items) => Value::Seq(items.into()),
            CollectionKind::Map(mut map) => {
                // After an error, a key may have no value.
                if let Some(PendingKey::Named(name, span)) = map.key.take()
                    && map.find(&name).is_none()
                {
                    let end = span.range().end;
                    map.push(Entry::new(name, &span, Node::scalar("", Style::Plain, self.file.span(end..end))));
                }
                for merged in std::mem::take(&mut map.merges) {
                    size += self.merge(&merged, &mut map);
                }
                Value::Map(map.entries.into())
            }
        };
        MeasuredNode { node: Node::at(value, span), size, height: open.height + 1 }
    }

    /// Adds the entries of a `<<` value that the mapping lacks, and returns their number.
    ///
    /// An earlier source has precedence over a later source.
    fn merge(&mut self, merged: &Node, map: &mut OpenMapping) -> usize {
        let before = map.entries.len();
        let sources = if merged.is_seq() { merged.items() } else { std::slice::from_ref(merged) };
        for source in sources {
            if !source.is_map() {
                let message = "the value of `<<` is not a mapping";
                let finding = Finding::error(INVALID_YAML, source.span().clone(), message)
                    .help("use the alias of a mapping, or quote the key if it is a name");
                self.findings.push(finding);
            }
            for entry in source.entries() {
                if map.find(&entry.key).is_none() {
                    map.push(entry.clone());
                }
            }
        }
        map.entries.len() - before
    }

    /// Reports a tab in the indentation of a block scalar. go-yaml's scanner treats the tab as the start of a token.
    fn check_indentation(&mut self, block: &Range<usize>, value: &str) {
        let tab = self.has_tabs.then(|| token::tab_in_indentation(self.file.text(), block, value));
        let Some(tab) = tab.flatten() else { return };
        let span = self.file.span(tab..tab + 1);
        let finding = Finding::error(INVALID_YAML, span, "the indentation contains a tab; YAML allows only spaces")
            .help("use spaces, or leave the line empty");
        self.findings.push(finding);
    }

    /// Reports an anchor in a range if go-yaml does not accept the name of the anchor.
    fn check_anchor(&mut self, from: usize, to: usize) {
        let text = self.file.text();
        let Some(at) = text.get(from..to).and_then(|gap| gap.rfind('&')).map(|at| from + at + 1) else { return };
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | ':'));
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            return;
        }
        let span = self.file.span(at..at + name.len());
        let message = format!("the name of the anchor `&{name}` is not valid");
        let finding = Finding::error(INVALID_YAML, span, message)
            .help("use letters, digits, `-` and `_`; the YAML readers of Kubernetes reject other characters");
        self.findings.push(finding);
    }

    /// Reports `\/` in double quotes, which go-yaml does not accept.
    fn check_slash(&mut self, quoted: &Range<usize>) {
        let text = self.file.text().get(quoted.clone()).unwrap_or_default();
        let mut bytes = text.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            if byte == b'\\' && bytes.next().is_some_and(|(_, next)| next == b'/') {
                let span = self.file.span(quoted.start + at..quoted.start + at + 2);
                let message = "`\\/` is not a valid escape sequence for the YAML readers of Kubernetes";
                self.findings.push(Finding::error(INVALID_YAML, span, message).help("write `/`"));
                return;
            }
        }
    }

    /// Reports a tab between an indicator such as `-` and a token at `start`.
    fn check_tab(&mut self, start: usize) {
        if !self.has_tabs || self.stack.iter().any(|open| open.flow) {
            return;
        }
        let Some(tab) = token::tab_after_dash(self.file.text(), start) else { return };
        let span = self.file.span(tab..tab + 1);
        let is_own = span.file().root().is_none();
        let edits = vec![Edit { span: span.clone(), text: " ".to_owned() }];
        let fix = is_own.then_some(Fix { edits, safety: Safety::Safe });
        let finding = Finding::error(
            INVALID_YAML,
            span,
            "a tab follows an indicator; the YAML readers of Kubernetes reject the file",
        )
        .help("use a space")
        .fixed_by(fix);
        self.findings.push(finding);
    }
}

/// The help for a key that is defined twice.
const KEEP_ONE: &str = "keep one of the keys; kustomize and Flux reject the file";

/// The help for keys that are defined twice because the separator of two objects is missing.
pub(crate) const SECOND_OBJECT: &str =
    "write `---` before the second object, if these are two objects; otherwise, keep one of the keys";

fn duplicate(key: &str, at: Span, first: Span) -> Finding {
    Finding::error(DUPLICATE_KEY, at, format!("duplicate key `{key}` in this mapping"))
        .related(first, "first defined here")
}

fn written_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}
