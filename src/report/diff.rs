//! Unified diffs of files, with masked secrets.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use similar::{DiffOp, TextDiff};

use super::mask::Mask;
use super::printable::printable;
use crate::text::File;

/// The maximum number of lines of both versions. The time of a diff grows with the square of the changed lines.
const MAX_LINES: usize = 200_000;

/// The maximum product of the lines of both versions between the first and the last changed line.
const MAX_PRODUCT: usize = 400_000_000;

/// The number of context lines around a change.
const CONTEXT: usize = 3;

const HEADER: Style = Style::new().bold();
const HUNK: Style = AnsiColor::Cyan.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// Writes the unified diff of two versions of a file; `None` is a missing file. Writes nothing for equal versions.
pub fn write(out: &mut dyn Write, old: Option<&File>, new: Option<&File>) -> io::Result<()> {
    let text = |file: Option<&File>| file.map_or(String::new(), |file| file.text().to_owned());
    let (old_text, new_text) = (text(old), text(new));
    if old_text == new_text && old.is_some() == new.is_some() {
        return Ok(());
    }
    let name = |side: char, file: Option<&File>| {
        file.map_or_else(|| "/dev/null".to_owned(), |file| format!("{side}/{}", printable(file.path())))
    };
    writeln!(out, "{HEADER}--- {}{HEADER:#}", name('a', old))?;
    writeln!(out, "{HEADER}+++ {}{HEADER:#}", name('b', new))?;
    if let Some(summary) = summary_of_large(&old_text, &new_text) {
        return writeln!(out, "{HUNK}@@ {summary} @@{HUNK:#}");
    }
    let sides = Sides { old: Side::new(old), new: Side::new(new) };
    let diff = TextDiff::from_lines(&old_text, &new_text);
    for hunk in diff.grouped_ops(CONTEXT) {
        sides.write_hunk(out, &hunk)?;
    }
    Ok(())
}

/// Describes the change of a file that is too large for a diff.
fn summary_of_large(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let changed = |all: usize| all.saturating_sub(before + after);
    let is_small =
        old.len() + new.len() <= MAX_LINES && changed(old.len()).saturating_mul(changed(new.len())) <= MAX_PRODUCT;
    (!is_small).then(|| {
        format!(
            "from line {}: {} lines become {} lines, too many to show",
            before + 1,
            changed(old.len()),
            changed(new.len())
        )
    })
}

struct Sides<'a> {
    old: Side<'a>,
    new: Side<'a>,
}

impl Sides<'_> {
    fn write_hunk(&self, out: &mut dyn Write, hunk: &[DiffOp]) -> io::Result<()> {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return Ok(()) };
        let old = span(first.old_range().start..last.old_range().end);
        let new = span(first.new_range().start..last.new_range().end);
        writeln!(out, "{HUNK}@@ -{old} +{new} @@{HUNK:#}")?;
        for op in hunk {
            if matches!(op, DiffOp::Equal { .. }) {
                self.new.write_lines(out, ' ', Style::new(), op.new_range())?;
            } else {
                self.old.write_lines(out, '-', REMOVED, op.old_range())?;
                self.new.write_lines(out, '+', ADDED, op.new_range())?;
            }
        }
        Ok(())
    }
}

/// Formats a range of lines for the header of a hunk: the first line, and the count unless it is one.
fn span(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

struct Side<'a> {
    file: Option<&'a File>,
    mask: Mask,
}

impl<'a> Side<'a> {
    fn new(file: Option<&'a File>) -> Self {
        Self { file, mask: file.map_or_else(Mask::default, Mask::new) }
    }

    fn write_lines(&self, out: &mut dyn Write, sign: char, style: Style, lines: Range<usize>) -> io::Result<()> {
        let Some(file) = self.file else { return Ok(()) };
        for line in lines {
            let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
            let text = self.mask.line(file, line).unwrap_or_default();
            let range = file.line(line).unwrap_or_default();
            // Lines that differ only in their line breaks would otherwise look equal.
            let carriage =
                if file.text().get(range.end..).is_some_and(|rest| rest.starts_with("\r\n")) { "\r" } else { "" };
            writeln!(out, "{style}{sign}{}{style:#}{carriage}", printable(&text))?;
            if range.end == file.text().len() {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: Option<&str>, new: Option<&str>) -> String {
        let file = |text: &str| File::new("a.yaml", text);
        let mut out = Vec::new();
        write(&mut out, old.map(file).as_ref(), new.map(file).as_ref()).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn a_change_has_three_lines_of_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let expected = "--- a/a.yaml\n+++ b/a.yaml\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(Some(old), Some(&old.replace('5', "five"))), expected);
    }

    #[test]
    fn a_large_change_is_described() {
        let (old, new) = ("a\n".to_owned() + &"b\n".repeat(30_000), "a\n".to_owned() + &"c\n".repeat(40_000));
        let shown = diff(Some(&old), Some(&new));
        assert!(shown.ends_with("@@ from line 2: 30000 lines become 40000 lines, too many to show @@\n"), "{shown}");
    }

    #[test]
    fn the_missing_side_is_dev_null() {
        assert_eq!(diff(None, Some("a\n")), "--- /dev/null\n+++ b/a.yaml\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(diff(Some("a\n"), None), "--- a/a.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn a_missing_final_line_break_is_marked() {
        let expected = "--- a/a.yaml\n+++ b/a.yaml\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(diff(Some("a"), Some("a\n")), expected);
    }

    #[test]
    fn a_changed_secret_is_a_masked_change() {
        let text = |value: &str| format!("kind: Secret\nstringData:\n  a: {value}\n");
        let shown = diff(Some(&text("hunter1")), Some(&text("hunter22")));
        assert!(shown.ends_with("-  a: *******\n+  a: ********\n"), "{shown}");
    }
}
