//! Text that go-yaml accepts although the specification does not.
//!
//! kustomize and Flux read files with go-yaml, so they apply such text. The event parser follows the specification.
//! Before the parser reads such text again, this module inserts spaces where the specification requires them. It maps
//! offsets back, so that positions are positions in the file.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ErrorKind;

use super::syntax_error::ErrorContext;
use super::token;

/// The number of repairs that any file may have. Each repair parses the document again.
const MAX_REPAIRS: usize = 100;

/// The maximum number of bytes that further repairs parse.
const MAX_BYTES: usize = 256 << 20;

/// The text of a file with its repairs.
pub(super) struct RepairedText<'a> {
    text: Cow<'a, str>,
    /// The insertions, sorted by offset.
    insertions: Vec<Insertion>,
    repairs: usize,
    /// The number of bytes that repairs parsed again.
    parsed: usize,
}

/// Inserted spaces.
#[derive(Debug, Clone, Copy)]
struct Insertion {
    /// The offset in the file.
    at: usize,
    spaces: usize,
    /// The number of spaces before this insertion.
    before: usize,
}

impl<'a> RepairedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), insertions: Vec::new(), repairs: 0, parsed: 0 }
    }

    /// The text from an offset in the file.
    pub(super) fn from(&self, offset: usize) -> Option<&str> {
        self.text.get(self.repaired(offset)..)
    }

    /// The offset in this text of an offset in the file.
    pub(super) fn repaired(&self, offset: usize) -> usize {
        let count = self.insertions.partition_point(|one| one.at < offset);
        let last = count.checked_sub(1).and_then(|last| self.insertions.get(last));
        offset + last.map_or(0, |last| last.before + last.spaces)
    }

    /// The offset in the file of an offset in this text.
    pub(super) fn original(&self, offset: usize) -> usize {
        let count = self.insertions.partition_point(|one| one.at + one.before < offset);
        let Some(last) = count.checked_sub(1).and_then(|last| self.insertions.get(last)) else { return offset };
        if offset < last.at + last.before + last.spaces { last.at } else { offset - last.before - last.spaces }
    }

    /// Counts the bytes of a document that a repair parses again.
    pub(super) fn count(&mut self, bytes: usize) {
        self.parsed = self.parsed.saturating_add(bytes);
    }

    /// Repairs an error at an offset in the file, and returns whether the document can be parsed again.
    pub(super) fn repair(&mut self, file: &str, at: usize, kind: &ErrorKind, context: &ErrorContext) -> bool {
        let insertions = match kind {
            ErrorKind::InvalidQuotedScalarIndent => quoted_lines(file, at, context),
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar => {
                if let Some(flow) = context.flow {
                    return self.replace_tabs(&bracketed(file, flow));
                }
                quoted_lines(file, at, context)
            }
            _ => return false,
        };
        self.insert(insertions)
    }

    /// Separates an alias from a following colon, because go-yaml does not allow a colon in the name of an alias.
    pub(super) fn repair_alias(&mut self, end: usize) {
        self.insert(vec![(end.saturating_sub(1), 1)]);
    }

    fn insert(&mut self, insertions: Vec<(usize, usize)>) -> bool {
        let has = |at: &usize| self.insertions.binary_search_by_key(at, |one| one.at).is_ok();
        if insertions.is_empty() || insertions.iter().any(|(at, _)| has(at)) || !self.may_repair() {
            return false;
        }
        self.repairs += 1;
        for (at, spaces) in insertions {
            let place = self.repaired(at);
            self.text.to_mut().insert_str(place, &" ".repeat(spaces));
            let position = self.insertions.partition_point(|one| one.at < at);
            self.insertions.insert(position, Insertion { at, spaces, before: place - at });
            for later in self.insertions.iter_mut().skip(position + 1) {
                later.before += spaces;
            }
        }
        true
    }

    /// Replaces the tabs in the indentation of lines between brackets.
    fn replace_tabs(&mut self, lines: &Range<usize>) -> bool {
        let range = self.repaired(lines.start)..self.repaired(lines.end);
        let Some(old) = self.text.get(range.clone()) else { return false };
        let (mut is_indentation, mut last) = (false, ' ');
        let replace = |c: char| {
            // A plain scalar may continue on the next line, where go-yaml rejects a tab.
            let ends_token = matches!(last, '[' | ']' | '{' | '}' | ',' | '"' | '\'');
            is_indentation = (c == '\n' && ends_token) || (is_indentation && matches!(c, ' ' | '\t'));
            if !c.is_whitespace() {
                last = c;
            }
            if is_indentation && c == '\t' { ' ' } else { c }
        };
        let new: String = old.chars().map(replace).collect();
        if new == old || !self.may_repair() {
            return false;
        }
        self.repairs += 1;
        self.text.to_mut().replace_range(range, &new);
        true
    }

    /// Returns whether the number of repairs is below the limit.
    pub(super) fn may_repair(&self) -> bool {
        self.repairs < MAX_REPAIRS || self.parsed < MAX_BYTES
    }
}

/// The spaces that the lines of the quoted scalar around an error lack.
fn quoted_lines(file: &str, at: usize, context: &ErrorContext) -> Vec<(usize, usize)> {
    let Some(open) = token::open_quote(file, context.last_end, at) else { return Vec::new() };
    let Some(close) = closing_quote(file, open).filter(|close| *close >= at) else { return Vec::new() };
    let before = file.get(..open).unwrap_or_default();
    let indent = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let scalar = file.get(open..close).unwrap_or_default();
    let starts = scalar.match_indices('\n').map(|(at, _)| open + at + 1);
    let line = |start: usize| file.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let is_wanted = |start: &usize| !line(*start).trim().is_empty() && !is_document_marker(line(*start));
    starts.filter(is_wanted).map(|start| (start, indent.max(1))).collect()
}

/// Returns whether a line separates documents, which go-yaml does not accept inside quotes either.
fn is_document_marker(line: &str) -> bool {
    let rest = ["---", "..."].into_iter().find_map(|marker| line.strip_prefix(marker));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
}

fn closing_quote(text: &str, open: usize) -> Option<usize> {
    let quote = text.get(open..)?.chars().next()?;
    let mut rest = text.get(open + 1..)?.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c == '\\' && quote == '"' {
            rest.next();
        } else if c == quote {
            if quote == '\'' && rest.peek().is_some_and(|(_, next)| *next == '\'') {
                rest.next();
                continue;
            }
            return Some(open + 1 + at);
        }
    }
    None
}

/// The range from a bracket to its closing bracket, or to the end of the text.
fn bracketed(text: &str, open: usize) -> Range<usize> {
    let (mut depth, mut at, mut before) = (0_usize, open, ' ');
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let starts_token = before.is_whitespace() || matches!(before, '[' | '{' | ',' | ':');
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '\'' if starts_token => at = closing_quote(text, at).unwrap_or(text.len()),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        before = c;
        at += c.len_utf8();
    }
    open..at.min(text.len())
}

#[cfg(test)]
mod tests {
    use crate::text::File;

    #[test]
    fn documents_of_a_large_file_have_repairs_of_their_own() {
        let rules: Vec<String> = (0..40).map(|at| format!("    rule{at}: 'a\n  == b'\n")).collect();
        let text = format!("spec:\n{}    filler: {}\n---\n", rules.concat(), "x".repeat(300_000));
        let parsed = crate::yaml::parse(&File::new("a.yaml", text.repeat(8)));
        assert_eq!((parsed.findings, parsed.documents.len()), (Vec::new(), 8));
    }

    #[test]
    fn a_file_may_have_many_unindented_quoted_lines() {
        let rules: Vec<String> = (0..150).map(|at| format!("    rule{at}: 'a\n  == b'\n")).collect();
        let rules = rules.concat();
        let parsed = crate::yaml::parse(&File::new("a.yaml", format!("spec:\n{rules}")));
        assert_eq!(parsed.findings, []);
    }
}
