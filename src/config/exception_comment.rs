//! Exceptions in comments: `# fleetwright: allow[rule] reason`.
//!
//! A comment at the end of a line applies to this line. A comment on a line of its own applies to the entry, item or
//! document that follows.

use std::ops::Range;
use std::sync::Arc;

use super::exception::{Exception, INVALID_EXCEPTION};
use crate::base::date::Date;
use crate::base::finding::Finding;
use crate::text::{File, Span};

/// The name before an exception in a comment.
const NAME: &str = "fleetwright:";

/// The maximum number of comments with exceptions in a file. It bounds the search for their ends.
const MAX_COMMENTS: usize = 1000;

/// The words of other linters for `allow`.
const OTHER_WORDS: [&str; 7] = ["allowed", "disable", "except", "ignore", "noqa", "skip", "suppress"];

/// The help for a comment with a wrong form.
const FORM: &str = "write `# fleetwright: allow[rule] reason`";

/// Reads the exceptions in the comments of a file. Returns findings for comments that are not valid.
pub fn exceptions_of(file: &File) -> (Vec<Exception>, Vec<Finding>) {
    let (mut exceptions, mut findings) = (Vec::new(), Vec::new());
    // The first letter may be a capital.
    let name = NAME.get(1..).unwrap_or_default();
    if memchr::memmem::find(file.text().as_bytes(), name.as_bytes()).is_none() {
        return (exceptions, findings);
    }
    let lines = lines(file.text());
    let mut comments = lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.comment()?)));
    for (at, comment) in comments.by_ref().take(MAX_COMMENTS) {
        let of_lines = file.span(scope(&lines, at));
        match read(file, &comment, &of_lines) {
            Ok(read) => exceptions.extend(read),
            Err(finding) => findings.push(*finding),
        }
    }
    if let Some((_, next)) = comments.next() {
        let message =
            format!("the file has more than {MAX_COMMENTS} comments with exceptions; the others have no effect");
        let help = "add an exception with `paths` to `.fleetwright.yaml`";
        findings.push(Finding::error(INVALID_EXCEPTION, file.span(next.place), message).help(help));
    }
    (exceptions, findings)
}

/// A line without its line break.
struct Line<'a> {
    start: usize,
    text: &'a str,
}

/// A comment for this program.
struct Comment<'a> {
    /// The range of the comment in the file.
    place: Range<usize>,
    /// The start of the text in the file.
    start: usize,
    /// The text after the name of the program.
    text: &'a str,
    /// Whether another text precedes the name of the program, or the name is written in another case.
    is_misspelled: bool,
}

/// The position of an ASCII text in a line, in upper or lower case.
fn find_ignoring_case(line: &str, text: &str) -> Option<usize> {
    line.as_bytes().windows(text.len()).position(|part| part.eq_ignore_ascii_case(text.as_bytes()))
}

/// Returns whether a `#` after this part of a line starts a comment.
fn ends_before_comment(code: &str) -> bool {
    code.is_empty() || code.ends_with([' ', '\t', '\u{FEFF}'])
}

/// The start of the comment at the end of a line, if there is one.
fn comment_start(line: &str) -> Option<usize> {
    line.match_indices('#').map(|(at, _)| at).find(|at| line.get(..*at).is_some_and(ends_before_comment))
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let line = |text: &'_ str| (text.len(), text.trim_end_matches(['\n', '\r']).len());
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        let (len, kept) = line(whole);
        lines.push(Line { start, text: whole.get(..kept).unwrap_or_default() });
        start += len;
    }
    lines
}

impl<'a> Line<'a> {
    /// The comment for this program on the line.
    ///
    /// A comment that only mentions the program is not for it, unless it has the form of an exception, with brackets.
    fn comment(&self) -> Option<Comment<'a>> {
        let at = find_ignoring_case(self.text, NAME)?;
        let (before, text) = (self.text.get(..at)?, self.text.get(at + NAME.len()..)?);
        let code = before.trim_end().strip_suffix('#').filter(|code| ends_before_comment(code));
        let word = text.trim_start();
        let word = word.get(..word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len())).unwrap_or_default();
        let is_exception = ["allow"].iter().chain(&OTHER_WORDS).any(|known| word.eq_ignore_ascii_case(known));
        let has_brackets =
            || text.trim_start().get(word.len()..).is_some_and(|rest| rest.trim_start().starts_with('['));
        let (start, is_prefixed) = match code {
            Some(code) => (code.len(), false),
            // In quotes, it is an example.
            None if before.trim_end().trim_end_matches('#').ends_with(['`', '"', '\'']) => return None,
            None => (comment_start(before).filter(|_| has_brackets())?, true),
        };
        is_exception.then(|| Comment {
            place: self.start + start..self.start + self.text.len(),
            start: self.start + self.text.len() - text.len(),
            text,
            is_misspelled: is_prefixed || !self.text.get(at..).is_some_and(|rest| rest.starts_with(NAME)),
        })
    }

    /// The text without indentation and a byte order mark.
    fn content(&self) -> &'a str {
        self.text.trim_start_matches([' ', '\t', '\u{FEFF}'])
    }

    /// Whether the line has only a comment.
    fn is_comment(&self) -> bool {
        self.content().starts_with('#')
    }

    /// Whether the line has content of a document, or separates documents.
    fn has_content(&self) -> bool {
        !self.content().trim_end().is_empty() && !self.is_comment()
    }

    fn indentation(&self) -> usize {
        self.text.len() - self.content().len()
    }

    /// Whether the line ends a document.
    fn is_separator(&self) -> bool {
        let rest = self.text.strip_prefix("---").or_else(|| self.text.strip_prefix("..."));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    }

    fn is_item(&self) -> bool {
        self.content() == "-" || self.content().starts_with("- ")
    }

    /// Whether a block scalar starts after the line.
    fn opens_text(&self) -> bool {
        let code = self.text.split_once(" #").map_or(self.text, |(code, _)| code);
        let last = code.split_whitespace().next_back().unwrap_or_default();
        let modifiers = last.strip_prefix(['|', '>']);
        modifiers.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '1'..='9')))
    }
}

/// Returns the range of the lines to which the comment on a line applies.
fn scope(lines: &[Line<'_>], at: usize) -> Range<usize> {
    let to_end = |last: usize| lines.get(last).map_or(0, |line| line.start + line.text.len());
    let Some(own) = lines.get(at) else { return 0..0 };
    let start = own.start;
    if own.has_content() && !own.is_separator() {
        return start..to_end(at);
    }
    let content = |from: usize| (from..lines.len()).filter(|at| lines.get(*at).is_some_and(Line::has_content));
    let Some((first, line)) = content(at + 1).find_map(|first| Some((first, lines.get(first)?))) else {
        return start..to_end(at);
    };
    let before = lines.get(..at).unwrap_or_default().iter().rev().find(|line| line.has_content());
    let is_document = line.is_separator() || own.is_separator() || before.is_none_or(Line::is_separator);
    let is_text = before.is_some_and(|before| before.opens_text() && before.indentation() < line.indentation());
    let depth = line.indentation();
    let belongs = |other: &Line<'_>| {
        let is_deeper = other.indentation() > depth;
        let is_same = other.indentation() == depth;
        let is_list_of_key = is_same && other.is_item() && !line.is_item();
        let closes = is_same && other.content().starts_with(['}', ']']);
        !other.is_separator() && (is_document || is_deeper || is_list_of_key || closes || is_text && is_same)
    };
    let mut last = first;
    for next in content(first + 1) {
        if !lines.get(next).is_some_and(belongs) {
            break;
        }
        last = next;
    }
    start..to_end(last)
}

/// Reads the exceptions of a comment: one for each rule.
fn read(file: &File, comment: &Comment<'_>, lines: &Span) -> Result<Vec<Exception>, Box<Finding>> {
    let at = || file.span(comment.place.clone());
    let fault = |message: &str, help: &str| Box::new(Finding::error(INVALID_EXCEPTION, at(), message).help(help));
    if comment.is_misspelled {
        return Err(fault("the comment has no effect, since it does not start with `# fleetwright:`", FORM));
    }
    let Some(rest) = comment.text.trim_start().strip_prefix("allow") else {
        return Err(fault("the comment has no effect, since only `allow` makes an exception", FORM));
    };
    let Some(list) = rest.trim_start().strip_prefix('[') else {
        return Err(fault("the comment has no effect, since it names no rule in brackets", FORM));
    };
    let Some((list, rest)) = list.split_once(']') else {
        return Err(fault("the comment has no effect, since `]` is missing after the rules", FORM));
    };
    let list_start = comment.start + comment.text.len() - rest.len() - 1 - list.len();
    let (until, reason) = expiry(rest).map_err(|date| {
        let message = format!("the comment has no effect, since `{date}` is not a date");
        fault(&message, "write the last day as `until 2027-01-31`")
    })?;
    if reason.is_empty() {
        let help = "state the reason for the next reader, as in `# fleetwright: allow[rule] reason`";
        return Err(fault("the comment has no effect, since it states no reason", help));
    }
    let mut exceptions = Vec::new();
    let mut start = list_start;
    for item in list.split(',') {
        let rule = item.trim();
        let from = start + item.len() - item.trim_start().len();
        start += item.len() + 1;
        if rule.is_empty() {
            continue;
        }
        exceptions.push(Exception {
            rule: rule.to_owned(),
            reason: reason.clone(),
            until,
            objects: Vec::new(),
            paths: Vec::new(),
            lines: Some(lines.clone()),
            at: file.span(from..from + rule.len()),
            of_layout: false,
            bearings: Arc::default(),
        });
    }
    if exceptions.is_empty() {
        return Err(fault("the comment has no effect, since it names no rule", FORM));
    }
    Ok(exceptions)
}

/// Separates `until DATE`, at the start or the end of a text, from the reason. The error is a date that is not valid.
fn expiry(text: &str) -> Result<(Option<Date>, String), String> {
    let trim = |text: &str| text.trim_matches([':', '-', '–', '—', ',', ';', ' ', '\t']).to_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(['(', ')', '.', ',', ';', ':']).to_owned();
    let is_until = |at: usize| words.get(at).is_some_and(|word| bare(word).eq_ignore_ascii_case("until"));
    let first = words.iter().position(|word| !trim(word).is_empty()).unwrap_or_default();
    let last = words.len().saturating_sub(2);
    for at in [first, last] {
        let Some(date) = words.get(at + 1).map(|word| bare(word)).filter(|_| is_until(at)) else { continue };
        if !date.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let valid = Date::parse(&date).ok_or(date)?;
        let rest: Vec<&str> = words
            .iter()
            .enumerate()
            .filter(|(word, _)| *word != at && *word != at + 1)
            .map(|(_, word)| *word)
            .collect();
        return Ok((Some(valid), trim(&rest.join(" "))));
    }
    Ok((None, trim(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(text: &str) -> Result<(Vec<String>, String, Option<String>), String> {
        let (exceptions, findings) = exceptions_of(&File::new("a.yaml", format!("{text}\na: 1\n")));
        match findings.first() {
            Some(finding) => Err(finding.message.clone()),
            None => Ok((
                exceptions.iter().map(|one| one.rule.clone()).collect(),
                exceptions.first().map(|one| one.reason.clone()).unwrap_or_default(),
                exceptions.first().and_then(|one| one.until).map(|date| date.to_string()),
            )),
        }
    }

    #[test]
    fn a_comment_states_rules_a_reason_and_a_last_day() {
        let read = |text| read_one(text).unwrap();
        let one = |rules: &[&str], reason: &str, until: Option<&str>| {
            (rules.iter().map(|rule| (*rule).to_owned()).collect(), reason.to_owned(), until.map(str::to_owned))
        };
        assert_eq!(read("# fleetwright: allow[a-b] for a test"), one(&["a-b"], "for a test", None));
        assert_eq!(read("#fleetwright:allow [a, b ,] - x"), one(&["a", "b"], "x", None));
        let dated = one(&["a"], "the data moves", Some("2027-01-31"));
        assert_eq!(read("# fleetwright: allow[a] until 2027-01-31: the data moves"), dated);
        assert_eq!(read("# fleetwright: allow[a] the data moves (until 2027-01-31)"), dated);
        assert_eq!(read("# fleetwright: allow[a] the data moves, until 2027-01-31."), dated);
        assert_eq!(read("# fleetwright: allow[a] until it moves"), one(&["a"], "until it moves", None));
        assert_eq!(read("# see fleetwright: allow a x"), one(&[], "", None));
        assert_eq!(read("a: 'see fleetwright: allow[a] x'"), one(&[], "", None));
        assert_eq!(read("# Fleetwright: a linter"), one(&[], "", None));
        assert_eq!(read("# write `# fleetwright: allow[a] x`, or `fleetwright: allow[a] x`"), one(&[], "", None));
        assert_eq!(read("# fleetwright: a linter"), one(&[], "", None));
    }

    #[test]
    fn a_comment_without_a_reason_rule_or_date_is_reported() {
        for text in
            ["allow[a]", "allow[a] -", "allow[a] until 2027-01-31", "allow x", "allow[a x", "allow[] x", "ignore[a] x"]
        {
            assert!(read_one(&format!("# fleetwright: {text}")).is_err(), "{text}");
        }
        let other = ["# note. fleetwright: allow[a] x", "# Fleetwright: allow[a] x", "# see fleetwright: Ignore [a] x"];
        for text in other.into_iter().chain(["b: 1 # note; fleetwright: allow[a] x"]) {
            assert!(read_one(text).unwrap_err().contains("does not start with"), "{text}");
        }
        assert!(read_one("# fleetwright: Allow[a] x").unwrap_err().contains("only `allow`"));
        assert!(read_one("# fleetwright: allow[a] until 2027-02-30 x").unwrap_err().contains("2027-02-30"));
    }

    /// The lines to which the comment in a text applies, from 1.
    fn lines_of(text: &str) -> (u32, u32) {
        let (exceptions, _) = exceptions_of(&File::new("a.yaml", text));
        let span = exceptions[0].lines.as_ref().unwrap();
        (span.position().line, span.end_position().line)
    }

    #[test]
    fn a_comment_applies_to_its_line_or_to_what_follows() {
        let comment = "# fleetwright: allow[a] x";
        assert_eq!(lines_of(&format!("a: 1\nb: 2 {comment}\nc: 3\n")), (2, 2));
        assert_eq!(lines_of(&format!("{comment}\n\n# more\na: 1\nb: 2\n---\nc: 3\n")), (1, 5));
        assert_eq!(lines_of(&format!("a: 1\n{comment}\n---\nc: 3\nd: 4\n")), (2, 5));
        assert_eq!(lines_of(&format!("a: 1\n--- {comment}\nc: 3\nd: 4\n")), (2, 4));
        assert_eq!(lines_of(&format!("a: 1\n---\n{comment}\nc:\n  d: 3\ne: 4\r\n")), (3, 6));
        assert_eq!(lines_of(&format!("a: 1\n{comment}\nb:\n- x\n- y\nc: 3\n")), (2, 5));
        assert_eq!(lines_of(&format!("a:\n  {comment}\n  - b: 1\n    c: 1\n  - b: 2\n")), (2, 4));
        assert_eq!(lines_of(&format!("a:\n  - b: |\n      {comment}\n      c: 1\n      d: 2\n    e: 1\n")), (3, 5));
        assert_eq!(lines_of(&format!("a: 1\n{comment}\n")), (2, 2));
    }
}
