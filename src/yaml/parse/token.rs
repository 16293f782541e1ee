//! Exact token ranges, where the spans of the event parser are too short or too long.

use std::ops::Range;

use super::rule_ids::INVALID_YAML;
use crate::base::finding::Finding;
use crate::text::Span;

/// The position of an empty value: after the last colon, dash, anchor or tag in `gap`.
pub(super) fn empty_value(text: &str, gap: Range<usize>) -> usize {
    let start = gap.start.min(gap.end);
    let mut place = start;
    let mut line_start = start;
    for line in text.get(start..gap.end).unwrap_or("").split_inclusive('\n') {
        let content = without_comment(line).trim_end();
        if !content.is_empty() {
            place = line_start + content.len();
        }
        line_start += line.len();
    }
    // The parser reports the value of `key :` directly after its key.
    let rest = text.get(place..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let colon = place == start && rest.get(blanks..).is_some_and(|rest| rest.starts_with(':'));
    if colon { place + blanks + 1 } else { place }
}

/// The part of a line before its comment. The line must not contain scalars.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() {
            return line.get(..at).unwrap_or(line);
        }
        before = c;
    }
    line
}

/// The first dash between a key and its sequence; `reported` if there is no dash.
pub(super) fn first_dash(text: &str, key_end: usize, reported: usize) -> usize {
    let at = skip_to(text, key_end, |rest| {
        rest.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    });
    at.filter(|at| *at <= reported).unwrap_or(reported)
}

/// The range of a block scalar: from its header to the end of its last line, including trailing empty lines with `+`.
pub(super) fn block_scalar(text: &str, gap: usize, reported: Range<usize>, value: &str) -> Range<usize> {
    let header = skip_to(text, gap, |rest| rest.starts_with(['|', '>']));
    let start = header.filter(|at| *at <= reported.end).unwrap_or(reported.start);
    let token = text.get(start..reported.end).unwrap_or("");
    let header_line = token.lines().next().unwrap_or("");
    let keep = without_comment(header_line).contains('+');
    let content = value.trim_end_matches('\n');
    let ends_in_blanks = !content.is_empty() && content.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
    // The reported end includes the indentation of the next token.
    let whole = match token.rsplit_once('\n') {
        Some((before, rest)) if rest.trim().is_empty() => token.get(..=before.len()).unwrap_or(token),
        _ => token,
    };
    let mut kept = strip_break(whole);
    // Trailing empty lines are content only with `+`. A line of spaces is content if it has more indentation than the
    // other lines.
    if !keep && !ends_in_blanks {
        while let Some((before, line)) = kept.rsplit_once('\n')
            && line.trim().is_empty()
        {
            kept = strip_break_end(before);
        }
    }
    start..start + kept.len()
}

/// The value of a block scalar without the final line break that the text lacks.
///
/// If the text ends in the last line of the scalar without a line break, the readers of Kubernetes and kustomize add
/// no line break, regardless of the header.
pub(super) fn without_final_break<'a>(text: &str, range: &Range<usize>, value: &'a str) -> &'a str {
    let Some(unbroken) = value.strip_suffix('\n') else { return value };
    let written = text.get(range.start..).and_then(|token| token.rsplit_once('\n')).map_or("", |(_, line)| line);
    // Spaces are content only if they exceed the indentation of the other lines.
    let is_content = if written.trim().is_empty() {
        let last = unbroken.rsplit('\n').next().unwrap_or(unbroken);
        !last.is_empty() && written.ends_with(last)
    } else {
        range.end == text.len()
    };
    if is_content { unbroken } else { value }
}

/// The first tab in the indentation of a block scalar's lines, or of the empty lines after it. `value` is its text.
pub(super) fn tab_in_indentation(text: &str, block: &Range<usize>, value: &str) -> Option<usize> {
    let start = block.start + text.get(block.start..)?.find('\n')? + 1;
    let rest = text.get(block.end..)?;
    let end = block.end + (rest.len() - rest.trim_start().len());
    let lines = text.get(start..end)?;
    if !lines.contains('\t') {
        return None;
    }
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    // With an indicator, as in `|2`, the first line may start with spaces of the value.
    let first = |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(spaces);
    let indent = first(lines).map_or(usize::MAX, |written| written.saturating_sub(first(value).unwrap_or_default()));
    let mut at = start;
    lines.split_inclusive('\n').find_map(|line| {
        let tab = spaces(line);
        let found = (tab < indent && line.get(tab..)?.starts_with('\t')).then_some(at + tab);
        at += line.len();
        found
    })
}

fn strip_break(text: &str) -> &str {
    text.strip_suffix('\n').map_or(text, strip_break_end)
}

fn strip_break_end(text: &str) -> &str {
    text.strip_suffix('\r').unwrap_or(text)
}

/// Skips blanks, comments, anchors, tags and indicators until `found` matches; `None` if another token comes first.
fn skip_to(text: &str, from: usize, found: impl Fn(&str) -> bool) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        if found(rest) {
            return Some(at);
        }
        let length = match rest.chars().next()? {
            ' ' | '\t' | '\r' | '\n' | ':' | '?' | '-' | ',' | '[' | '{' | '\u{FEFF}' => {
                rest.chars().next()?.len_utf8()
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '&' | '!' => rest.find([' ', '\t', '\r', '\n']).unwrap_or(rest.len()),
            _ => return None,
        };
        at += length;
    }
}

/// The opening quote of an unclosed scalar after `from`.
pub(super) fn open_quote(text: &str, from: usize, before: usize) -> Option<usize> {
    let at = skip_to(text, from, |rest| rest.starts_with(['"', '\'']));
    at.filter(|at| *at <= before)
}

/// A tab between a dash or `?` and `start`, on the same line.
pub(super) fn tab_after_dash(text: &str, start: usize) -> Option<usize> {
    let before = text.get(..start)?;
    // Stop early: almost no token follows a tab.
    let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
    let gap = before.get(before.len() - blanks..)?;
    let tab = gap.find('\t')?;
    let indicator = before.get(..before.len() - blanks)?;
    let dash = indicator.strip_suffix(['-', '?'])?;
    dash.is_empty().then_some(()).or_else(|| dash.ends_with([' ', '\t', '\n']).then_some(()))?;
    Some(before.len() - blanks + tab)
}

/// A finding for `{{ … }}`, which YAML parses as a mapping whose key is a mapping; `inner` is the inner mapping.
pub(super) fn template_at(inner: &Span) -> Option<Finding> {
    let text = inner.file().text();
    let range = inner.range();
    let opens = inner.text().starts_with('{') && text.get(..range.start)?.ends_with('{');
    if !opens {
        return None;
    }
    let closes = text.get(range.end..)?.starts_with('}');
    Some(template(&inner.file().span(range.start - 1..range.end + usize::from(closes))))
}

/// A finding for a template expression at `span`.
pub(super) fn template(span: &Span) -> Finding {
    let first = span.text().lines().next().unwrap_or("");
    Finding::error(INVALID_YAML, span.clone(), format!("`{first}` is a template expression, not YAML"))
        .help("quote the expression if it is text; Flux does not render such templates")
        .caused_by(span.file().path(), "", " template expressions in this file are not YAML")
}
