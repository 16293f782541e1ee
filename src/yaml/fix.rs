//! Fixes of findings: edits of the place where a value is written.
//!
//! An edit needs a text that states the value as it is. A value with a variable, a value that kustomize computes and a
//! value in a copy of another repository have no fix.

use crate::base::finding::{Fix, Safety};
use crate::text::{Edit, File, Span};
use crate::yaml::tree::node::{Entry, Node};

/// The fix that replaces a scalar.
pub fn replace(node: &Node, new: &str, safety: Safety) -> Option<Fix> {
    let old = node.text()?;
    replace_part(node.span(), old, old, new, safety)
}

/// The fix that replaces a part of a scalar, whose whole text is `whole`.
pub fn replace_part(at: &Span, whole: &str, part: &str, new: &str, safety: Safety) -> Option<Fix> {
    if whole.is_empty() || part.is_empty() || !is_plain(new) {
        return None;
    }
    let written = at.text();
    let bare =
        written.strip_prefix(['"', '\'']).and_then(|text| text.strip_suffix(written.get(..1)?)).unwrap_or(written);
    if bare != whole {
        return None;
    }
    let start = at.range().start + (written.len() - bare.len()) / 2 + whole.find(part)?;
    fix(at.file().span(start..start + part.len()), new.to_owned(), safety)
}

/// The fix that adds a field to a mapping, after the last of some fields on one line or before the first field.
///
/// `lines` are the lines of the field without the indentation of the mapping.
pub fn add(mapping: &Node, after: &[&str], lines: &[&str], safety: Safety) -> Option<Fix> {
    let written = mapping.entries().iter().filter_map(Line::of);
    let written: Vec<Line<'_>> = written.filter(|line| line.is_in(mapping)).collect();
    let first = written.first()?;
    let sibling = after.iter().rev().find_map(|key| written.iter().find(|line| &*line.entry.key == *key));
    if let Some(sibling) = sibling.filter(|sibling| sibling.ends_here) {
        let start = format!("{}{}", sibling.ending, " ".repeat(sibling.column));
        let text: String = lines.iter().flat_map(|line| [start.as_str(), line]).collect();
        return fix(sibling.key.file().span(sibling.end..sibling.end), text, safety);
    }
    let end = format!("{}{}", first.ending, " ".repeat(first.column));
    let text: String = lines.iter().flat_map(|line| [line, end.as_str()]).collect();
    let start = first.key.range().start;
    fix(first.key.file().span(start..start), text, safety)
}

/// The fix that removes an entry of a mapping with its lines, if the mapping has further entries.
pub fn remove(mapping: &Node, key: &str, safety: Safety) -> Option<Fix> {
    let entry = mapping.entry(key)?;
    let line = Line::of(entry)?;
    let mut others = mapping.entries().iter().filter(|other| other.key != entry.key).filter_map(Line::of);
    let has_others = others.any(|other| other.is_in(mapping));
    // The first entry of an item is on the line of the item.
    if !has_others || !line.is_in(mapping) || !line.is_first {
        return None;
    }
    let file = line.key.file();
    let start = line.key.range().start - line.column;
    let value = entry.node.span();
    let end = if line.ends_here {
        line.end
    } else {
        let end = value.end_position().line;
        let is_below = value.file() == file && value.range().start > line.key.range().start && !value.text().is_empty();
        let range = file.line(end).filter(|_| is_below && value.end_position().column > 1)?;
        let rest = file.text().get(value.range().end..range.end)?;
        if !rest.trim().is_empty() {
            return None;
        }
        range.end
    };
    let text = file.text();
    let end = end + text.get(end..)?.find('\n').map_or(0, |at| at + 1);
    fix(file.span(start..end), String::new(), safety)
}

/// Sets a field: replaces its value, or adds the field.
pub fn set(mapping: &Node, key: &str, value: &str, after: &[&str], safety: Safety) -> Option<Fix> {
    match mapping.get(key) {
        Some(node) if node.text().is_some_and(|text| !text.is_empty()) => replace(node, value, safety),
        Some(_) => None,
        None => add(mapping, after, &[&format!("{key}: {value}")], safety),
    }
}

/// The fix that replaces the text of a position, which is the whole of a scalar or a part of it.
pub fn retype(at: &Span, old: &str, new: &str, safety: Safety) -> Option<Fix> {
    replace_part(at, old, old, new, safety)
}

fn fix(span: Span, text: String, safety: Safety) -> Option<Fix> {
    // A file of a copy is not a file of the repository.
    let is_own = span.file().root().is_none();
    is_own.then(|| Fix { edits: vec![Edit { span, text }], safety })
}

/// Returns whether a text is the same scalar with and without quotes.
fn is_plain(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:@+*<>=~^ ".contains(c);
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '/' || c == '.');
    first && text.chars().all(is_safe) && !text.contains(": ") && !text.ends_with([':', ' '])
}

/// Returns whether the text before a line may end with an item of a flow sequence, such as `[a,` before `b: c]`.
fn follows_item(file: &File, line: u32) -> bool {
    let lines = (1..line).rev().map_while(|number| file.text().get(file.line(number)?));
    // A comment starts with `#` after a space. A `#` in a quoted text is rare, and only costs the fix.
    let mut written = lines.map(|line| line.find(" #").map_or(line, |end| line.get(..end).unwrap_or_default()).trim());
    let last = written.find(|line| !line.is_empty() && !line.starts_with('#'));
    last.is_some_and(|line| line.ends_with([',', '[', '{']))
}

/// An entry of a block mapping that starts on its own line, or after the dash of an item.
struct Line<'a> {
    entry: &'a Entry,
    key: Span,
    /// The number of bytes before the key.
    column: usize,
    /// Whether only spaces precede the key.
    is_first: bool,
    /// The end of the line, without its break.
    end: usize,
    /// Whether the value ends on the line.
    ends_here: bool,
    /// The line break.
    ending: &'static str,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry) -> Option<Self> {
        let key = entry.key_span();
        let file = key.file();
        let number = key.position().line;
        let range = file.line(number)?;
        let before = file.text().get(range.start..key.range().start)?;
        if key.text() != &*entry.key || !before.chars().all(|c| c == ' ' || c == '-') || before.contains("--") {
            return None;
        }
        // YAML also ends a line at a carriage return alone, so these lines are other lines than those of the file.
        if file.text().get(range.clone())?.contains('\r') || follows_item(file, number) {
            return None;
        }
        let value = entry.node.span();
        let is_written = value.file() == file && value.range().start >= key.range().end;
        let ends_here = is_written
            && entry.node.text().is_some_and(|text| !text.is_empty())
            && value.end_position().line == number
            && !value.text().starts_with(['|', '>', '&', '!', '*']);
        let is_windows = file.text().get(range.end..)?.starts_with("\r\n");
        Some(Self {
            entry,
            column: before.len(),
            is_first: !before.contains('-'),
            end: range.end,
            ends_here,
            ending: if is_windows { "\r\n" } else { "\n" },
            key,
        })
    }

    /// Whether the entry is written in the place of a mapping, and does not come from a patch.
    fn is_in(&self, mapping: &Node) -> bool {
        let span = mapping.span();
        span.file() == self.key.file() && span.range().contains(&self.key.range().start)
    }
}
