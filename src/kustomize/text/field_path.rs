//! Field paths of replacements: `spec.containers.[name=app].image`, with `*` and indices.
//!
//! kustomize looks up the path of a source and matches the path of a target, with different rules. A source selects a
//! list item by an exact value, and a target by a regular expression that may match a part of the value.

use crate::yaml::{Node, Value};

/// The segments of a path. A dot after a backslash or inside brackets belongs to its segment.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut pieces: Vec<&str> = path.split('.').collect();
    if pieces.len() > 1 && pieces.first() == Some(&"") {
        pieces.remove(0);
    }
    let mut joined: Vec<String> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => {
                last.pop();
                last.push('.');
                last.push_str(piece);
            }
            None => joined.push(piece.to_string()),
        }
    }
    let mut segments = Vec::new();
    let mut rest = joined.into_iter();
    while let Some(mut segment) = rest.next() {
        if segment.starts_with('[') && !segment.ends_with(']') {
            for piece in rest.by_ref() {
                segment.push('.');
                segment.push_str(&piece);
                if piece.ends_with(']') {
                    break;
                }
            }
            if !segment.contains('=') {
                segment = segment.trim_matches(['[', ']']).to_string();
            }
        }
        segments.push(segment);
    }
    segments
}

/// The meaning of a segment.
pub(super) enum Segment<'a> {
    Index(usize),
    /// `[name=value]`; the name is empty for lists of scalars.
    Item(&'a str, &'a str),
    Wildcard,
    Field(&'a str),
}

/// Parses a segment.
pub(super) fn read(segment: &str) -> Result<Segment<'_>, String> {
    if let Ok(index) = segment.parse::<i64>()
        && let Ok(index) = usize::try_from(index)
    {
        return Ok(Segment::Index(index));
    }
    if let Some(inner) = segment.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (name, value) = inner
            .split_once('=')
            .ok_or_else(|| format!("`{segment}` does not select an item; write `[field=value]`"))?;
        return Ok(Segment::Item(name, value));
    }
    Ok(if segment == "*" { Segment::Wildcard } else { Segment::Field(segment) })
}

/// The node at a path; `None` if it does not exist.
pub(crate) fn look_up<'a>(root: &'a Node, path: &[String]) -> Result<Option<&'a Node>, String> {
    let mut node = root;
    for segment in path.iter().map(|segment| segment.trim()).filter(|segment| !segment.is_empty()) {
        let found = match read(segment)? {
            Segment::Wildcard => return Err("a source path cannot contain `*`".into()),
            Segment::Field("-") => list(node, segment)?.last(),
            Segment::Field(name) if name.parse::<i64>().is_ok() => return Err(format!("index `{name}` is negative")),
            Segment::Field(name) => field(node, name)?,
            Segment::Index(index) => list(node, segment)?.get(index),
            Segment::Item("", value) => list(node, segment)?.iter().find(|item| item.text().unwrap_or("") == value),
            Segment::Item(name, value) => list(node, segment)?
                .iter()
                .find(|item| item.get(name).is_some_and(|field| field.text().unwrap_or("") == value)),
        };
        let Some(found) = found else { return Ok(None) };
        node = found;
    }
    Ok(Some(node))
}

/// The entry of a mapping; a null has no entries.
pub(super) fn field<'a>(node: &'a Node, name: &str) -> Result<Option<&'a Node>, String> {
    if node.is_map() || node.is_null() {
        return Ok(node.get(name));
    }
    Err(format!("{} has no field `{name}`", shape(node)))
}

/// The items of a list; a null has no items.
pub(super) fn list<'a>(node: &'a Node, segment: &str) -> Result<&'a [Node], String> {
    if node.is_seq() || node.is_null() {
        return Ok(node.items());
    }
    Err(format!("`{segment}` requires a list, but the field holds {}", shape(node)))
}

fn shape(node: &Node) -> &'static str {
    match node.value {
        Value::Scalar(..) => "a scalar",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn dots_after_backslashes_and_inside_brackets_do_not_split_segments() {
        assert_eq!(split("metadata.annotations.a\\.io/b"), ["metadata", "annotations", "a.io/b"]);
        assert_eq!(split("a.[b.c=d.e].f"), ["a", "[b.c=d.e]", "f"]);
        assert_eq!(split("a.[b.io/c].d"), ["a", "b.io/c", "d"]);
        assert_eq!(split(".a"), ["a"]);
    }
}
