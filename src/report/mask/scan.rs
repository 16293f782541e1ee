//! Finds secrets in invalid YAML: all text below the keys of secret values.
//!
//! This module masks too much rather than too little, since the intent of an invalid file is unknown.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::quick_check::may_hold_secrets;

/// Matches a key whose value is secret in a document that may contain a Secret.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s{,\[-])(["']?(?:data|stringData|literals|value))["']?\s*:"#)
        .expect("the expression is constant")
});

/// The parts of the keys that [`KEY`] matches. This search examines many bytes at once.
static KEY_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let finder =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(["data", "Data", "literals", "value"]);
    finder.expect("the words are few and short")
});

/// Matches the key of an entry, with its colon.
static ENTRY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^["']?[A-Za-z0-9._-]+["']?:(?:\s|$)"#).expect("the expression is constant"));

/// Returns the secret ranges of a text.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut document: Vec<Line> = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        let written = text.get(start..end).unwrap_or_default();
        if written.is_empty() && end == text.len() {
            break;
        }
        let line = Line { start, text: written.trim_end_matches('\r') };
        start = end + 1;
        if line.text == "---" || line.text.starts_with("--- ") {
            scan(text, &document, &mut ranges);
            document.clear();
        }
        document.push(line);
    }
    scan(text, &document, &mut ranges);
    ranges
}

struct Line<'a> {
    start: usize,
    text: &'a str,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the range from a column to the end of the line.
    fn from(&self, column: usize) -> Range<usize> {
        self.start + column..self.start + self.text.len()
    }
}

/// Scans a document of a text.
fn scan(text: &str, document: &[Line], ranges: &mut Vec<Range<usize>>) {
    let (Some(first), Some(last)) = (document.first(), document.last()) else { return };
    let (start, end) = (first.start, last.start + last.text.len());
    let may_hold =
        |written: &&str| may_hold_secrets(written) && document.iter().any(|line| may_hold_secrets(line.text));
    let Some(written) = text.get(start..end).filter(may_hold) else { return };
    // Most lines have no such key, so one search for all lines is faster than one for each.
    let mut words = KEY_WORDS.find_iter(written).map(|found| start + found.start()).peekable();
    for (index, line) in document.iter().enumerate() {
        while words.next_if(|word| *word < line.start).is_some() {}
        if words.peek().is_none_or(|word| *word >= line.start + line.text.len()) {
            continue;
        }
        let Some(found) = KEY.captures(line.text) else { continue };
        let (Some(whole), Some(key)) = (found.get(0), found.get(1)) else { continue };
        let value = line.text.get(whole.end()..).unwrap_or_default().trim();
        let below = document.get(index + 1..).unwrap_or_default();
        if !matches!(value, "" | "|" | "|-" | "|+" | ">" | ">-" | ">+") {
            ranges.push(line.from(whole.end()));
        }
        // An action of a template, such as `{{ .Values.port }}`, is no collection.
        let is_action = value.starts_with("{{") && value.ends_with("}}");
        let starts_collection = |text: &str| text.starts_with(['{', '[']);
        if starts_collection(value) && !is_action || starts_collection(line.text.trim_start()) {
            // The end of an invalid flow collection is unknown.
            ranges.extend(below.iter().map(|line| line.from(0)));
            return;
        }
        hide_below(key.start(), below, ranges);
    }
}

/// Masks the lines indented below a key, except the keys of its direct entries.
fn hide_below(key: usize, below: &[Line], ranges: &mut Vec<Range<usize>>) {
    let belongs = |line: &&Line| {
        line.is_blank() || line.indent() > key || (line.indent() == key && line.text.trim_start().starts_with('-'))
    };
    let mut child = None;
    for line in below.iter().take_while(belongs).filter(|line| !line.is_blank()) {
        let indent = line.indent();
        let entry = (*child.get_or_insert(indent) == indent)
            .then(|| line.text.get(indent..).and_then(|text| ENTRY.find(text)))
            .flatten();
        ranges.push(line.from(indent + entry.map_or(0, |entry| entry.len())));
    }
}
