//! Schemas in comments. kustomize reads any JSON object in a comment as the schema of a field.
//!
//! This includes the image policy markers of Flux. The field and its children then lose their built-in schema.

use crate::text::Span;
use crate::yaml::Entry;

/// Returns whether a comment on the same line, or the comment directly above, hides the schema of a field.
///
/// The schema in the comment is not read: lists of the field are replaced, even if the schema sets merge keys.
pub(crate) fn hides_schema(entry: &Entry) -> bool {
    if entry.node.text().is_some() {
        return false;
    }
    let key = entry.key_span();
    if let Some(comment) = beside(entry, &key) {
        return is_schema(comment);
    }
    let file = key.file();
    let line = file.line_at(key.range().start);
    let above = |count: u32| file.text().get(file.line(line.checked_sub(count)?)?).map(str::trim);
    above(1).is_some_and(is_schema) && !above(2).is_some_and(|line| line.starts_with('#'))
}

/// The comment on the line where a collection or its key ends.
fn beside<'a>(entry: &Entry, key: &'a Span) -> Option<&'a str> {
    let text = key.file().text();
    let value = entry.node.span();
    let is_flow = value.text().starts_with(['{', '[']) && value.file() == key.file();
    let end = if is_flow { value.range().end } else { key.range().end };
    let rest = text.get(end..)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start_matches([' ', '\t', '\r']);
    if rest.starts_with('#') { rest.lines().next().map(str::trim) } else { None }
}

fn is_schema(comment: &str) -> bool {
    if !comment.starts_with('#') {
        return false;
    }
    let json = comment.trim_start_matches('#');
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Map<_, serde_json::Value>>();
    values.next().is_some_and(|map| map.is_ok_and(|map| !map.is_empty()))
}
