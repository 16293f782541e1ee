//! Edits: replacements of byte ranges.

use super::file::Span;

/// A replacement of the text of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The span to replace; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// Applies edits to a text; `None` if two edits overlap.
pub fn apply(source: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.range().start, edit.span.range().end));
    let mut result = String::with_capacity(source.len());
    let mut done = 0;
    for edit in sorted {
        let range = edit.span.range();
        result.push_str(source.get(done..range.start)?);
        result.push_str(&edit.text);
        done = range.end;
    }
    result.push_str(source.get(done..)?);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::file::File;

    #[test]
    fn edits_replace_their_ranges_and_nothing_else() {
        let file = File::new("a", "one two three");
        let edit = |range, text: &str| Edit { span: file.span(range), text: text.into() };
        assert_eq!(apply(file.text(), &[edit(8..13, "3"), edit(0..3, "1")]).as_deref(), Some("1 two 3"));
        assert_eq!(apply(file.text(), &[edit(0..5, ""), edit(4..7, "")]), None);
    }
}
