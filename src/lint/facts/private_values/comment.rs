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

/// Returns whether a comment calls a value invented: a comment in its line, directly above its line, or at the start of
/// its file.
pub(crate) fn calls_invented(value: &Span) -> bool {
    let text = value.file().text();
    let start = value.range().start;
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let own = line.rsplit_once(" #").map(|(_, comment)| comment);
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let above = text.get(..line_start).unwrap_or_default().lines().rev().take(MAX_LINES).take_while(is_comment);
    let is_head = |line: &&str| is_comment(line) || matches!(line.trim(), "" | "---");
    let head = text.lines().take(MAX_LINES).take_while(is_head);
    own.into_iter().chain(above).chain(head).any(|comment| {
        let comment = comment.to_ascii_lowercase();
        INVENTED.iter().any(|word| comment.contains(word))
    })
}
