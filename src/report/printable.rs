//! Escapes text of a repository for terminals, logs and comments. All text output passes through this module.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces characters that move the cursor, start a line for some readers, or reverse the direction of text.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| c != '\n' && c != '\t' && is_unsafe(c);
    if text.contains(is_unsafe) { Cow::Owned(text.replace(is_unsafe, "\u{FFFD}")) } else { Cow::Borrowed(text) }
}

/// Returns a text without line breaks and control characters.
pub fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// Adds a text to Markdown without markup. Backticks, which code may need, stay.
pub(super) fn push_markdown(text: &str, escaped: &mut String) {
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(c);
        // GitHub notifies a user or a team that follows an `@`, escaped or not.
        if c == '@' {
            escaped.push('\u{200B}');
        }
    }
}

/// Escapes brackets, which start a link in the messages of SARIF.
pub(super) fn sarif_text(text: &str) -> String {
    printable(text).replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]").replace('{', "{{").replace('}', "}}")
}

/// Returns a line of text output without control characters other than colors, and without commands of a workflow.
///
/// GitHub executes a line that starts with `::` and a name after spaces, and a line that contains `##[`, in both streams.
pub fn log_line(line: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| c != '\t' && is_unsafe(c);
    let start = content_start(line);
    let name = line.get(start..).and_then(|text| text.strip_prefix("::"));
    let is_command = name.is_some_and(|name| name.starts_with(|c: char| c.is_alphanumeric()));
    if !is_command && !line.contains("##[") && !line.contains(is_unsafe) {
        return Cow::Borrowed(line);
    }
    let (before, rest) = line.split_at(start);
    let escape = if is_command { "\\" } else { "" };
    let mut out = String::with_capacity(line.len() + 8);
    let line = format!("{before}{escape}{rest}").replace("##[", "##\\[");
    let mut rest = line.as_str();
    while let Some(at) = rest.find(is_unsafe) {
        let (before, from) = rest.split_at(at);
        let (kept, length) = match color(from) {
            Some(color) => (color, color.len()),
            None => ("\u{FFFD}", from.chars().next().map_or(1, char::len_utf8)),
        };
        out.push_str(before);
        out.push_str(kept);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns a part of a JSON document without control characters, and without commands of a workflow. It has the same
/// meaning: outside of texts, these characters do not occur.
pub fn json_line(line: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| c != '\n' && is_unsafe(c);
    if !line.contains("##[") && !line.contains(is_unsafe) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 8);
    for c in line.replace("##[", "##\\u005b").chars() {
        if is_unsafe(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The offset of the first character that is neither a space nor a part of a color.
fn content_start(line: &str) -> usize {
    let mut start = 0;
    loop {
        let rest = line.get(start..).unwrap_or_default();
        let skipped = rest.len() - rest.trim_start().len();
        let skipped = if skipped > 0 { skipped } else { color(rest).map_or(0, str::len) };
        if skipped == 0 {
            return start;
        }
        start += skipped;
    }
}

/// The escape sequence of a color at the start of a text.
fn color(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters.get(length..)?.starts_with('m').then(|| text.get(..length + 3)).flatten()
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_command_becomes_text() {
        assert_eq!(log_line("  ::error::no"), "  \\::error::no");
        assert_eq!(log_line("a ##[error]no"), "a ##\\[error]no");
        assert_eq!(log_line("a::b"), "a::b");
        assert_eq!(log_line(" ::: a.yaml:1:1"), " ::: a.yaml:1:1");
        assert_eq!(log_line("\u{1b}[1m ::error::no"), "\u{1b}[1m \\::error::no");
    }

    #[test]
    fn a_line_of_json_keeps_its_meaning() {
        let value = serde_json::json!("a ##[error]\u{85}\u{2028}\u{202e}\u{feff}");
        let line = json_line(&value.to_string()).into_owned();
        assert_eq!(line, r#""a ##\u005berror]\u0085\u2028\u202e\ufeff""#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
    }

    #[test]
    fn only_colors_remain_of_control_characters() {
        let written = "\u{1b}[1;31mred\u{1b}[0m\u{1b}[2Jgone\u{9b}2J\u{85}x\u{2028}y\r";
        assert_eq!(log_line(written), "\u{1b}[1;31mred\u{1b}[0m\u{FFFD}[2Jgone\u{FFFD}2J\u{FFFD}x\u{FFFD}y\u{FFFD}");
        assert_eq!(one_line("a\nb\u{2029}c"), "a b\u{FFFD}c");
    }
}
