//! Edits: replacements of byte ranges.

use std::collections::BTreeMap;

use super::file::Span;
use super::tree::Tree;

/// A replacement of the text of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The span to replace; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// Applies edits to a text; `None` if two edits overlap. Equal edits count once.
pub fn apply(source: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.range().start, edit.span.range().end));
    sorted.dedup();
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

/// Returns the new texts of the files that edits change, by path.
///
/// A file does not change if its edits overlap, or if its bytes are not its text, such as those of a file in UTF-16.
pub fn edited<'a>(tree: &Tree, edits: impl IntoIterator<Item = &'a Edit>) -> BTreeMap<String, String> {
    let mut by_file: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        by_file.entry(edit.span.file().path()).or_default().push(edit.clone());
    }
    let text = |(path, edits): (&str, Vec<Edit>)| {
        let file = tree.file(path).ok().filter(|_| is_editable(tree, path))?;
        Some((path.to_owned(), apply(file.text(), &edits)?))
    };
    by_file.into_iter().filter_map(text).collect()
}

/// Returns whether the bytes of a file are its text.
pub fn is_editable(tree: &Tree, path: &str) -> bool {
    tree.file(path).is_ok_and(|file| file.is_utf8())
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
