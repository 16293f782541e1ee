//! Finds secrets in parsed YAML: the scalars below the keys of secret values.

use std::ops::Range;

use arcstr::ArcStr;

use super::quick_check::{may_hold_objects, may_hold_secrets};
use super::scan;
use crate::lint::{assigned_values, may_be_private, private_values};
use crate::text::{File, Index, Span};
use crate::yaml::{Document, Entry, Node, Parsed, Style, Value};

/// The keys of a Secret whose values are secret.
pub(super) const FIELDS: [&str; 2] = ["data", "stringData"];

/// The fields of a Secret whose values are public. An author may misspell the other ones.
const PUBLIC_FIELDS: [&str; 6] = ["$patch", "apiVersion", "kind", "metadata", "sops", "type"];

/// The depth of nested patches at which a patch is masked completely.
const MAX_DEPTH: usize = 4;

/// Returns the secret ranges of a file, in any order. `depth` is the number of texts that contain the file.
pub(super) fn secrets(file: &File, depth: usize) -> Vec<Range<usize>> {
    if !may_hold_secrets(file.text()) {
        return Vec::new();
    }
    in_parsed(&crate::yaml::parse(file), depth)
}

/// Returns the secret ranges of a parsed file, in any order.
pub(super) fn in_parsed(parsed: &Parsed, depth: usize) -> Vec<Range<usize>> {
    let file = &parsed.file;
    let mut ranges = in_documents(file, &parsed.documents, depth);
    // After a syntax error, nodes may be missing. The scanner finds dropped secrets by their indentation.
    if !parsed.findings.is_empty() || parsed.documents.iter().any(|document| !document.complete) {
        ranges.extend(scan::secrets(file.text()));
    }
    ranges
}

/// Returns the secret ranges of a file's documents.
fn in_documents(file: &File, documents: &[Document], depth: usize) -> Vec<Range<usize>> {
    let mut walk = Walk { file, depth, ranges: Vec::new(), aliased: Vec::new() };
    // A text without structure contains no objects. A second visit of the text would find the same text again.
    let is_text = |document: &Document| depth > 0 && matches!(document.node.value, Value::Scalar(..));
    if documents.iter().any(is_text) {
        walk.ranges.extend(defaults(file.text()));
    }
    // The texts in the file are parts of it.
    if depth == 0 {
        walk.ranges.extend(assigned_values(file.text()));
    }
    for document in documents {
        if !is_text(document) {
            walk.visit(&document.node);
        }
        walk.ranges.extend(private_values(&document.node).iter().map(|private| content(&private.span)));
        let aliased: Index<ArcStr, ()> = std::mem::take(&mut walk.aliased).into_iter().map(|text| (text, ())).collect();
        if !aliased.is_empty() {
            walk.hide_equal(&document.node, &aliased);
        }
    }
    walk.ranges
}

/// The ranges of the defaults of variables in a text, as in `${PASSWORD:=hunter2}`. The name of a variable is public.
fn defaults(text: &str) -> impl Iterator<Item = Range<usize>> {
    // A default ends at the first brace, or at the end of the line. The search continues there, so it is linear.
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let at = next + text.get(next..)?.find("${")?;
            let rest = text.get(at..)?;
            let end = rest.find(['}', '\n']).unwrap_or(rest.len());
            next = at + end.max(2);
            let inner = rest.get(..end).unwrap_or_default();
            if let Some(start) = inner.find(['=', '-', '?']) {
                return Some(at + start + 1..at + end);
            }
        }
    })
}

/// The range of a value, without the header of a block scalar.
pub(super) fn content(value: &Span) -> Range<usize> {
    let mut range = value.range();
    if value.text().starts_with(['|', '>']) {
        range.start += value.text().find('\n').unwrap_or_default();
    }
    range
}

/// The kind of object that a patch is applied to, according to its `target`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Secret,
    Other,
    Unknown,
}

impl Target {
    /// Reads the `kind` of a target. kustomize uses it as a regular expression, so only a plain word excludes Secrets.
    fn from_node(target: Option<&Node>) -> Self {
        match target.and_then(|target| target.get("kind")).and_then(Node::text) {
            Some("Secret") => Self::Secret,
            Some(kind) if !kind.is_empty() && kind.chars().all(char::is_alphanumeric) => Self::Other,
            _ => Self::Unknown,
        }
    }
}

struct Walk<'a> {
    file: &'a File,
    depth: usize,
    ranges: Vec<Range<usize>>,
    /// The secret values of aliases, which also occur at their anchors.
    aliased: Vec<ArcStr>,
}

impl Walk<'_> {
    fn visit(&mut self, node: &Node) {
        match &node.value {
            // Most scalars have one line, which is cheaper to see.
            Value::Scalar(text, _) if may_contain_yaml(text) && may_hold_secrets(text) => {
                self.nested(node, Target::Unknown);
            }
            Value::Scalar(..) => {}
            Value::Seq(items) => {
                self.operations(items, Target::Unknown);
                items.iter().for_each(|item| self.visit(item));
            }
            Value::Map(entries) => {
                self.object(node);
                for entry in entries.iter() {
                    // A patch is read once, with its target.
                    if &*entry.key == "patch" {
                        self.patch(&entry.node, Target::from_node(node.get("target")));
                    } else {
                        self.visit(&entry.node);
                    }
                }
            }
        }
    }

    /// Masks the values of a Secret, a list of Secrets, or a generator of Secrets.
    fn object(&mut self, node: &Node) {
        match node.get("kind").and_then(Node::text) {
            Some(kind) if is_secret(kind) => self.secret(node),
            // The controller copies these values to the Secret. Only the other ones are encrypted.
            Some("SealedSecret") => node.at_keys(&["spec", "template"]).into_iter().for_each(|of| self.fields(of)),
            Some("ClusterSecretStore" | "SecretStore") => {
                let fake = node.at_keys(&["spec", "provider", "fake", "data"]).map_or(&[][..], Node::items);
                fake.iter().filter_map(|item| item.get("value")).for_each(|value| self.hide(value));
            }
            Some("SecretList") => {
                let items = node.get("items").into_iter().flat_map(Node::items);
                items.for_each(|item| self.secret(item));
            }
            _ => {}
        }
        for generator in node.get("secretGenerator").into_iter().flat_map(Node::items) {
            let Some(literals) = generator.entry("literals") else { continue };
            match &literals.node.value {
                Value::Scalar(..) => self.literal(&literals.node),
                _ => literals.node.items().iter().for_each(|literal| self.literal(literal)),
            }
            self.comments(literals);
        }
    }

    /// Masks the values of a Secret, whatever their fields are. Without metadata, it may be a reference to a Secret.
    fn secret(&mut self, node: &Node) {
        if node.get("metadata").is_none() {
            return self.fields(node);
        }
        for entry in node.entries().iter().filter(|entry| is_value_of_secret(entry)) {
            self.hide(&entry.node);
            self.comments(entry);
        }
    }

    fn fields(&mut self, node: &Node) {
        for entry in FIELDS.iter().filter_map(|field| node.entry(field)) {
            self.hide(&entry.node);
            self.comments(entry);
        }
    }

    fn patch(&mut self, patch: &Node, target: Target) {
        match &patch.value {
            Value::Scalar(..) => self.nested(patch, target),
            Value::Seq(items) => {
                self.operations(items, target);
                items.iter().for_each(|item| item.entries().iter().for_each(|entry| self.visit(&entry.node)));
            }
            Value::Map(_) => {
                let unnamed = patch.get("kind").is_none() && target == Target::Unknown;
                if target == Target::Secret {
                    self.secret(patch);
                } else if unnamed {
                    self.fields(patch);
                }
                self.visit(patch);
            }
        }
    }

    /// Masks the values of JSON patch operations on the data of a Secret.
    fn operations(&mut self, items: &[Node], target: Target) {
        if target == Target::Other {
            return;
        }
        for item in items {
            let path = item.get("path").and_then(Node::text).unwrap_or_default();
            let secret = FIELDS.iter().any(|field| {
                path.strip_prefix('/')
                    .and_then(|path| path.strip_prefix(field))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            let Some(value) = item.entry("value").filter(|_| secret && item.get("op").is_some()) else { continue };
            self.hide(&value.node);
            self.comments(value);
        }
    }

    /// Parses a text that contains YAML, such as a patch, and masks its secrets.
    fn nested(&mut self, node: &Node, target: Target) {
        let Value::Scalar(text, style) = &node.value else { return };
        if !may_contain_yaml(text) {
            return;
        }
        let may_hold = self.depth >= MAX_DEPTH || (may_hold_secrets(text) && may_hide_parts(text));
        if !may_hold && target != Target::Secret {
            return;
        }
        let inner = File::new("", &**text);
        let parsed = crate::yaml::parse(&inner);
        let mut ranges = match self.depth {
            ..MAX_DEPTH if !may_hold => Vec::new(),
            ..MAX_DEPTH => in_parsed(&parsed, self.depth + 1),
            _ => std::iter::once(0..text.len()).collect(),
        };
        if target != Target::Unknown {
            let mut walk = Walk { file: &inner, depth: self.depth + 1, ranges: Vec::new(), aliased: Vec::new() };
            let documents = parsed.documents.iter().map(|document| &document.node);
            documents.filter(|node| node.text().is_none()).for_each(|node| walk.patch(node, target));
            match (target, parsed.findings.is_empty()) {
                // The target is more specific than the paths of the operations.
                (Target::Other, true) => ranges = walk.ranges,
                (Target::Secret, false) => ranges.push(0..text.len()),
                _ => ranges.extend(walk.ranges),
            }
        }
        if ranges.is_empty() {
            return;
        }
        match self.map_back(node, text, *style, &ranges) {
            Some(mapped) => self.ranges.extend(mapped),
            None => self.leaf(node),
        }
    }

    /// Maps ranges in the text of a scalar to the file. Returns `None` if the file does not contain the text verbatim.
    fn map_back(&self, node: &Node, text: &str, style: Style, ranges: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
        let span = node.span().range();
        if style != Style::Literal {
            let token = self.file.text().get(span.clone())?;
            let start = span.start + token.find(text)?;
            return Some(ranges.iter().map(|range| start + range.start..start + range.end).collect());
        }
        let header = self.file.position(span.start).line;
        let mut lines: Vec<(Range<usize>, usize)> = Vec::new();
        let mut offset = 0;
        for (line, content) in (header + 1..).zip(text.split('\n')) {
            let written = self.file.line(line).unwrap_or(self.file.text().len()..self.file.text().len());
            if !content.is_empty() {
                let start = written.end.checked_sub(content.len())?;
                (self.file.text().get(start..written.end)? == content).then_some(())?;
                lines.push((offset..offset + content.len(), start));
            }
            offset += content.len() + 1;
        }
        let mut mapped = Vec::new();
        for range in ranges {
            let first = lines.partition_point(|(line, _)| line.end <= range.start);
            let lines = lines.get(first..).unwrap_or_default();
            for (line, start) in lines.iter().take_while(|(line, _)| line.start < range.end) {
                let (from, to) = (range.start.max(line.start), range.end.min(line.end));
                if from < to {
                    mapped.push(start + from - line.start..start + to - line.start);
                }
            }
        }
        Some(mapped)
    }

    fn hide(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(text, _) => {
                if !is_encrypted(text) {
                    self.leaf(node);
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.hide(item)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.hide(&entry.node)),
        }
    }

    /// Masks a scalar, except the header of a block scalar.
    fn leaf(&mut self, node: &Node) {
        let Value::Scalar(text, style) = &node.value else { return };
        let range = node.span().range();
        let token = self.file.text().get(range.clone()).unwrap_or_default();
        if token.starts_with('*') && *style != Style::Unknown {
            self.aliased.push(text.clone());
        }
        let header = match style {
            Style::Literal | Style::Folded => token.find('\n').unwrap_or(token.len()),
            Style::Plain | Style::Single | Style::Double | Style::Unknown => 0,
        };
        self.ranges.push(range.start + header..range.end);
    }

    /// Masks the value of a generator's literal, after the `=`.
    fn literal(&mut self, node: &Node) {
        let range = node.span().range();
        let token = self.file.text().get(range.clone()).unwrap_or_default();
        match token.find('=') {
            Some(at) => self.ranges.push(range.start + at + 1..range.end),
            None => self.hide(node),
        }
    }

    /// Masks the comments beside and below a secret value, which may contain an earlier value.
    fn comments(&mut self, entry: &Entry) {
        let text = self.file.text();
        let start = entry.key_span().range().end;
        let mut end = line_end(text, entry.node.span().range().end.max(start));
        while let Some(next) = text.get(end + 1..) {
            let line = next.split('\n').next().unwrap_or_default();
            if next.is_empty() || !(line.trim().is_empty() || line.trim_start().starts_with('#')) {
                break;
            }
            end += 1 + line.len();
        }
        let mut tokens = Vec::new();
        tokens_of(&entry.node, &mut tokens);
        tokens.sort_by_key(|token| token.start);
        tokens.push(end..end);
        let mut at = start;
        for token in tokens {
            let mut gap = at..token.start.min(end);
            while let Some(hash) = text.get(gap.clone()).and_then(|between| between.find('#')) {
                let comment = gap.start + hash + 1;
                let comment_end = line_end(text, comment).min(gap.end);
                self.ranges.push(comment..comment_end);
                gap.start = comment_end;
            }
            at = at.max(token.end);
        }
    }

    /// Masks every scalar that equals one of `values`.
    fn hide_equal(&mut self, node: &Node, values: &Index<ArcStr, ()>) {
        match &node.value {
            Value::Scalar(text, _) => {
                if values.contains(text) {
                    self.leaf(node);
                }
            }
            Value::Seq(items) => items.iter().for_each(|item| self.hide_equal(item, values)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.hide_equal(&entry.node, values)),
        }
    }
}

/// Returns whether an object is a Secret, possibly with a misspelled kind.
pub(super) fn is_secret(kind: &str) -> bool {
    kind.eq_ignore_ascii_case("Secret") || kind.eq_ignore_ascii_case("Secrets")
}

/// Returns whether an entry of a Secret may contain a value.
pub(super) fn is_value_of_secret(entry: &Entry) -> bool {
    let is_flag = || &*entry.key == "immutable" && matches!(entry.node.text(), Some("true" | "false"));
    !PUBLIC_FIELDS.contains(&&*entry.key) && !is_flag()
}

/// Collects the ranges of a node's keys and scalars.
fn tokens_of(node: &Node, tokens: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Scalar(..) => tokens.push(node.span().range()),
        Value::Seq(items) => items.iter().for_each(|item| tokens_of(item, tokens)),
        Value::Map(entries) => {
            for entry in entries.iter() {
                tokens.push(entry.key_span().range());
                tokens_of(&entry.node, tokens);
            }
        }
    }
}

/// Returns whether parts of a text in a scalar may be secret: a fast check, since most texts have no secrets. The check
/// finds too much rather than too little.
fn may_hide_parts(text: &str) -> bool {
    may_hold_objects(text)
        || defaults(text).next().is_some()
        || may_be_private(text)
        // The text is scanned if it has a syntax error.
        || !scan::secrets(text).is_empty()
}

/// Returns whether a text may contain a YAML mapping.
fn may_contain_yaml(text: &str) -> bool {
    memchr::memchr2(b'\n', b'{', text.as_bytes()).is_some()
}

fn line_end(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at)
}

/// Returns whether a value is encrypted by SOPS and therefore not secret.
fn is_encrypted(text: &str) -> bool {
    text.starts_with("ENC[AES256_GCM,data:") && text.ends_with(']')
}
