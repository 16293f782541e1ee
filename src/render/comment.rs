//! The comments of templates that tools read. Other comments of a template are not part of the rendered file.

use super::splice::{self, MisplacedValue};
use crate::text::File;
use crate::yaml::{Comments, Node, Value};

/// The start of a comment at the end of a line.
const AFTER: &str = "# {\"$imagepolicy\":";
/// The start of a comment about the document.
const DOCUMENT: &str = "# yaml-language-server:";
/// The start of a comment about the next line.
const ABOVE: &str = "# renovate:";

/// Returns the comments to keep in the rendered text of a file. A comment without a value or line is dropped.
pub(super) fn kept(file: &File, documents: &[&Node], misplaced: &mut Vec<MisplacedValue>) -> Comments {
    let mut comments = Comments::default();
    let text = file.text();
    if ![AFTER, DOCUMENT, ABOVE].iter().any(|form| text.contains(form)) {
        return comments;
    }
    let mut places = Places::default();
    for node in documents {
        places.add(node);
    }
    places.lines.sort_unstable();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let (begin, end) = (start, start + line.trim_end().len());
        start += line.len();
        let above = line.trim_start();
        let is_document = above.starts_with(DOCUMENT);
        let at = match line.find(AFTER) {
            _ if is_document || above.starts_with(ABOVE) => end - above.trim_end().len(),
            Some(at) => begin + at,
            None => continue,
        };
        if places.scalars.iter().any(|scalar| scalar.0 < at && at < scalar.1) {
            continue;
        }
        let span = file.span(at..end);
        let Some(comment) = splice::comment(span.text()) else {
            misplaced.push(MisplacedValue { span, message: "a line break is not supported inside a comment" });
            continue;
        };
        if is_document {
            if let Some(root) = documents.iter().map(|node| node.span().range().start).find(|root| *root > at) {
                comments.documents.entry(root).or_default().push(comment);
            }
        } else if above.starts_with(ABOVE) {
            if let Some(next) = places.lines.iter().find(|next| **next > at) {
                comments.above.entry(*next).or_default().push(comment);
            }
        } else if let Some((scalar, _)) = places.scalars.iter().filter(|scalar| (begin..at).contains(&scalar.0)).max() {
            comments.after.insert(*scalar, comment);
        }
    }
    comments
}

/// The places of a file to which comments belong.
#[derive(Debug, Default)]
struct Places {
    /// The start and the end of each scalar value.
    scalars: Vec<(usize, usize)>,
    /// The start of each key and item.
    lines: Vec<usize>,
}

impl Places {
    fn add(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(..) => {
                let range = node.span().range();
                self.scalars.push((range.start, range.end));
            }
            Value::Seq(items) => {
                for item in items.iter() {
                    self.lines.push(item.span().range().start);
                    self.add(item);
                }
            }
            Value::Map(entries) => {
                for entry in entries.iter() {
                    self.lines.push(entry.key_span().range().start);
                    self.add(&entry.node);
                }
            }
        }
    }
}
