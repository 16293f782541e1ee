//! The search for secret values in output.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use data_encoding::BASE64;

/// Masks values in the notations of all output formats.
#[derive(Debug)]
pub struct Redactor(AhoCorasick);

impl Redactor {
    /// Creates a redactor; `None` without values.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self> {
        let notations: Vec<String> = values.flat_map(notations).collect();
        if notations.is_empty() {
            return None;
        }
        // The output is short, so the automaton that is built fastest is the best one.
        let kind = Some(AhoCorasickKind::NoncontiguousNFA);
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(notations).ok().map(Self)
    }

    /// Returns the text with each character of a secret value replaced by `*`. Keeps columns.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = String::new();
        let mut done = 0;
        for found in self.0.find_iter(text) {
            out.push_str(text.get(done..found.start()).unwrap_or_default());
            out.extend(text.get(found.range()).unwrap_or_default().chars().map(|_| '*'));
            done = found.end();
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Masks the strings of a line of JSON. A secret may contain quotes, so a mask of the whole line could destroy the
    /// syntax.
    pub fn redact_json<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if !self.0.is_match(line) {
            return Cow::Borrowed(line);
        }
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, string)) = rest.split_once('"') {
            let end = end_of_string(string);
            out.push_str(before);
            out.push('"');
            out.push_str(&self.redact(string.get(..end).unwrap_or_default()));
            rest = string.get(end..).unwrap_or_default();
            if let Some(after) = rest.strip_prefix('"') {
                out.push('"');
                rest = after;
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// The offset of the quote that ends a JSON string, or the length of the text.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(text.len())
}

/// The notations of a value: as it is, in JSON, in XML, in a workflow command, and in Base64.
fn notations(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let xml = |quote| value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', quote);
    let command = value.replace('%', "%25");
    let mut all = vec![value.to_owned(), json, xml("\""), xml("&quot;"), command, BASE64.encode(value.as_bytes())];
    all.retain(|text| !text.is_empty());
    all.dedup();
    all
}
