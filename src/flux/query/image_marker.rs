//! Markers of image automation: comments that select the policy of a value.

use std::ops::Range;

use memchr::memmem;

use crate::kustomize::Files;
use crate::text::{File, Span};
use crate::yaml::{Node, Parsed, Style, Value};

/// The key in a marker such as `# {"$imagepolicy": "flux-system:web:tag"}`.
const KEY: &str = "\"$imagepolicy\"";

/// The parts of an image that may follow the name.
const PARTS: [&str; 3] = ["tag", "name", "digest"];

/// A comment that references an `ImagePolicy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The place of the name.
    pub place: Span,
    /// The namespace of the policy; empty if the comment has no namespace, and therefore references no policy.
    pub namespace: String,
    /// The name of the policy.
    pub name: String,
    /// The text after the name, if the text is not a known part of an image.
    pub unknown_part: Option<String>,
    /// The image beside the comment, if the comment selects an image or the name of an image.
    pub image: Option<String>,
}

/// The markers of all files, in order.
pub(crate) fn markers(files: &Files) -> Vec<Marker> {
    files.parsed().flat_map(|(_, parsed)| of_file(parsed)).collect()
}

fn of_file(parsed: &Parsed) -> Vec<Marker> {
    let (file, text) = (&parsed.file, parsed.file.text());
    let mut found: Vec<(usize, Marker)> =
        memmem::find_iter(text.as_bytes(), KEY).filter_map(|at| Some((at, marker(file, at)?))).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    parsed.documents.iter().for_each(|document| add_blocks(&document.node, &mut blocks));
    blocks.sort_unstable_by_key(|block| block.start);
    // A block scalar has no comments.
    found.retain(|(at, _)| {
        let after = blocks.partition_point(|block| block.start <= *at);
        after.checked_sub(1).and_then(|last| blocks.get(last)).is_none_or(|block| block.end <= *at)
    });
    found.into_iter().map(|(_, marker)| marker).collect()
}

/// Adds the ranges of the block scalars of a node.
fn add_blocks(node: &Node, blocks: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Scalar(_, Style::Literal | Style::Folded) => blocks.push(node.span().range()),
        Value::Scalar(..) => {}
        Value::Seq(items) => items.iter().for_each(|item| add_blocks(item, blocks)),
        Value::Map(entries) => entries.iter().for_each(|entry| add_blocks(&entry.node, blocks)),
    }
}

/// The marker whose key is at an offset, if the comment contains nothing else.
fn marker(file: &File, at: usize) -> Option<Marker> {
    let text = file.text();
    let before = text.get(..at)?.rsplit('\n').next().unwrap_or_default();
    let comment = comment_of(before)?;
    if comment.trim() != "{" {
        return None;
    }
    let rest = text.get(at + KEY.len()..)?.lines().next()?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let start = at + KEY.len() + (rest.len() - value.len());
    let value = value.split('"').next()?;
    let place = file.span(start..start + value.len());
    // In a template, the name may be a placeholder, which references no policy.
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.'))
    };
    let mut parts = value.splitn(3, ':');
    let (first, second, part) = (parts.next()?, parts.next(), parts.next());
    let (namespace, name) = second.map_or(("", first), |name| (first, name));
    let unknown_part = part.filter(|part| !PARTS.contains(part)).map(ToOwned::to_owned);
    let code = before.strip_suffix(comment)?.strip_suffix('#')?;
    let image = scalar_at_end(code).filter(|_| part.is_none_or(|part| part == "name")).map(ToOwned::to_owned);
    let is_plain = (second.is_none() || is_name(namespace)) && is_name(name) && !value.contains(['$', '{', '<']);
    is_plain.then(|| Marker { place, namespace: namespace.to_owned(), name: name.to_owned(), unknown_part, image })
}

/// The plain or quoted scalar at the end of a line, after a key or the start of an item.
fn scalar_at_end(line: &str) -> Option<&str> {
    let line = line.trim();
    let value = line.rsplit_once(": ").map(|(_, value)| value).or_else(|| line.strip_prefix("- "))?.trim();
    let value = value.trim_matches(['"', '\'']);
    let is_image = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':' | '@');
    (!value.is_empty() && value.chars().all(is_image)).then_some(value)
}

/// The text after the `#` that starts a comment.
fn comment_of(line: &str) -> Option<&str> {
    let (mut quote, mut last) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '#') if last.is_whitespace() => return line.get(at + 1..),
            // Quotes within a plain scalar are ordinary characters.
            (None, '"' | '\'') if last.is_whitespace() || matches!(last, '[' | '{' | ',') => quote = Some(c),
            (Some(_) | None, _) => {}
        }
        last = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn only_comments_with_plain_names_are_markers() {
        let text = "a: 1 # {\"$imagepolicy\": \"apps:web\"}\nb: 'it # is' # {\"$imagepolicy\":\"apps:db:tag\"}\n\
                    c: '{\"$imagepolicy\": \"apps:no\"}'\nd: # {\"$imagepolicy\": \"${X}:web\"}\n\
                    # e: 1 # {\"$imagepolicy\": \"apps:off\"}\nf: |\n  1 # {\"$imagepolicy\": \"apps:text\"}\n\
                    # {\"$imagepolicy\": \"alone\"}\ng: it's # { \"$imagepolicy\" : \"apps:web:tga\"}\nh: # {\"$imagepolicy\"";
        let found = of_file(&parse(&File::new("a.yaml", text)));
        let names: Vec<String> = found.iter().map(|marker| format!("{}/{}", marker.namespace, marker.name)).collect();
        assert_eq!(names, ["apps/web", "apps/db", "/alone", "apps/web"]);
        assert_eq!(found[0].place.text(), "apps:web");
        assert_eq!(found[3].unknown_part.as_deref(), Some("tga"));
    }
}
