//! Comments that call the values of a file invented.

use crate::text::Span;

/// The words of such comments, in lower case.
const INVENTED: [&str; 10] = [
    "bogus",
    "dummy",
    "example only",
    "example value",
    "fake",
    "for evaluation",
    "not a real",
    "not real",
    "placeholder",
    "sample value",
];

/// The maximum number of lines that are read at the start of a file and above a value.
const MAX_LINES: usize = 50;

/// The maximum number of bytes that are read at the start of a file, before a value, and from the value on.
const MAX_BYTES: usize = 4096;

/// Returns whether a comment calls a value invented: a comment in its line, directly above its line, or at the start of
/// its file.
pub(crate) fn calls_invented(value: &Span) -> bool {
    let text = value.file().text();
    let start = value.range().start;
    let (before, after) = text.split_at_checked(start).unwrap_or_default();
    let before = before.get(before.ceil_char_boundary(before.len().saturating_sub(MAX_BYTES))..).unwrap_or_default();
    let above = before.rfind('\n').and_then(|end| before.get(..=end)).unwrap_or_default();
    let first = |text| -> &str { str::get(text, ..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default() };
    let line = first(after).lines().next().unwrap_or_default();
    let own = line.rsplit_once(" #").map(|(_, comment)| comment);
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let above = above.lines().rev().take(MAX_LINES).take_while(is_comment);
    let is_head = |line: &&str| is_comment(line) || matches!(line.trim(), "" | "---");
    let head = first(text).lines().take(MAX_LINES).take_while(is_head);
    own.into_iter().chain(above).chain(head).any(|comment| {
        let comment = comment.to_ascii_lowercase();
        INVENTED.iter().any(|word| comment.contains(word))
    })
}
