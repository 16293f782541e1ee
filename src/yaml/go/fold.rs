//! Changes of text in kustomize's round trip: before kustomize prints an object, it writes and rereads the object.

use std::borrow::Cow;

use super::shape::{self, is_break, is_printable};
use crate::yaml::tree::node::Style;

/// The text of a string with a style, as kustomize prints it. kustomize's round trip of a folded block adds empty lines
/// or joins lines.
pub fn normalized(text: &str, style: Style) -> Cow<'_, str> {
    let folded = if style == Style::Folded { refolded(text) } else { Cow::Borrowed(text) };
    match shape::fold_next_line_characters(&folded) {
        Cow::Borrowed(_) => folded,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// Returns whether go-yaml 3 writes a string of several lines as a block that it cannot read again.
///
/// Such a string starts with a tab, which the reader treats as indentation. Strings that pass through JSON are written
/// as blocks.
pub fn is_lost_as_block(text: &str) -> bool {
    text.starts_with('\t') && text.contains('\n') && is_block(text)
}

/// The text of a `>` block after go-yaml 3 has written it as a block and read it again.
///
/// The emitter adds an empty line after every line, even if the reader keeps the line break. The reader does so before
/// a line with more indentation, and at the end of a text that keeps all its line breaks. If the text starts with a
/// blank, the emitter adds no empty lines, and the reader joins lines.
fn refolded(text: &str) -> Cow<'_, str> {
    let plain_line = !text.trim_end_matches('\n').contains(is_break) && !text.ends_with("\n\n");
    if plain_line || !is_block(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(read_folded(&write_folded(text), text))
}

/// Returns whether go-yaml 3 writes the text as a block scalar.
pub(super) fn is_block(text: &str) -> bool {
    let blank_end = text.ends_with(' ') || text.split(is_break).rev().skip(1).any(|line| line.ends_with(' '));
    !blank_end && text.chars().all(|c| c == '\t' || is_printable(c))
}

/// Writes the lines of a folded block, without indentation.
fn write_folded(text: &str) -> String {
    let start = text.trim_start_matches(is_break);
    let joined = start.starts_with([' ', '\t', '\0']);
    let mut out = String::with_capacity(text.len() + 8);
    let (mut broken, mut indented) = (true, true);
    for c in text.chars() {
        if is_break(c) {
            if !broken && !indented && c == '\n' && !joined {
                out.push('\n');
            }
            broken = true;
        } else {
            if broken {
                indented = is_blank(c);
            }
            broken = false;
        }
        out.push(c);
    }
    out
}

/// Reads a folded block, with the trailing line breaks of `original`.
fn read_folded(block: &str, original: &str) -> String {
    let mut out = String::with_capacity(block.len());
    // The line break of the last line, and the line breaks of the empty lines after it.
    let (mut ended, mut empty) = (None, String::new());
    let mut was_indented = false;
    let mut rest = block;
    while let Some(first) = rest.chars().next() {
        if is_break(first) {
            empty.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let indented = is_blank(first);
        match ended.take() {
            Some('\n') if !was_indented && !indented => out.push_str(if empty.is_empty() { " " } else { "" }),
            other => out.extend(other),
        }
        out.push_str(&empty);
        empty.clear();
        was_indented = indented;
        let end = rest.find(is_break).unwrap_or(rest.len());
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        out.push_str(line);
        ended = after.chars().next();
        rest = after.get(ended.map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    let mut last = original.chars().rev();
    if last.next().is_some_and(is_break) {
        out.extend(ended);
        if last.next().is_none_or(is_break) {
            out.push_str(&empty);
        }
    }
    out
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}
