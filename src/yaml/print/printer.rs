//! The conversion of nodes to text in house style.

use std::fmt::Write as _;

use super::comments::Comments;
use super::quote::{Context, block, double, is_plain_text, is_plain_word};
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// The length of the longest key, in bytes, that is printed as `key: value`. YAML allows at most 1024 characters.
const MAX_SIMPLE_KEY: usize = 1000;

/// Prints documents in house style.
///
/// The style has two spaces of indentation, sequences indented under their key, `---` between documents and one line
/// break at the end. A string has quotes only if a reader of YAML 1.1 or 1.2 needs them. Keys keep their order. A
/// plain scalar keeps its text: `0755` stays `0755`, and `1.10` stays `1.10`.
pub fn print(documents: &[Node]) -> String {
    print_with(documents, Comments::default())
}

/// Prints documents in house style, with comments.
pub fn print_with(documents: &[Node], mut comments: Comments) -> String {
    let comments = &mut comments;
    let mut out = String::new();
    for (at, node) in documents.iter().enumerate() {
        if at > 0 {
            out.push_str("---\n");
        }
        if !comments.is_empty() {
            let lines = comments.documents.remove(&node.span().range().start);
            write_above(&mut out, lines, 0);
        }
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => mapping(&mut out, entries, 0, comments),
            Value::Seq(items) if !items.is_empty() => sequence(&mut out, items, 0, comments),
            _ => {
                let start = out.len();
                inline(&mut out, node, 0);
                // Readers skip an empty document.
                if out.len() == start {
                    out.push_str("null");
                }
                end_line(&mut out);
            }
        }
    }
    out
}

/// Writes the entries of a mapping. Before the call, the output ends at the position of the first key.
fn mapping(out: &mut String, entries: &[Entry], indent: usize, comments: &mut Comments) {
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            pad(out, indent);
        }
        if !comments.above.is_empty() {
            let lines = comments.above.remove(&entry.key_span().range().start);
            write_above(out, lines, indent);
        }
        let long = entry.key.len() > MAX_SIMPLE_KEY;
        if long {
            out.push_str("? ");
        }
        key(out, entry);
        if long {
            out.push('\n');
            pad(out, indent);
        }
        out.push(':');
        match &entry.node.value {
            Value::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                pad(out, indent + 2);
                mapping(out, entries, indent + 2, comments);
            }
            Value::Seq(items) if !items.is_empty() => {
                out.push('\n');
                pad(out, indent + 2);
                sequence(out, items, indent + 2, comments);
            }
            _ => {
                spaced(out, &entry.node, indent, comments);
                end_line(out);
            }
        }
    }
}

/// Writes the items of a sequence. Before the call, the output ends at the position of the first dash.
fn sequence(out: &mut String, items: &[Node], indent: usize, comments: &mut Comments) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            pad(out, indent);
        }
        if !comments.above.is_empty() {
            let lines = comments.above.remove(&item.span().range().start);
            write_above(out, lines, indent);
        }
        out.push('-');
        match &item.value {
            Value::Map(entries) if !entries.is_empty() => {
                out.push(' ');
                mapping(out, entries, indent + 2, comments);
            }
            Value::Seq(items) if !items.is_empty() => {
                out.push(' ');
                sequence(out, items, indent + 2, comments);
            }
            _ => {
                spaced(out, item, indent, comments);
                end_line(out);
            }
        }
    }
}

/// Writes comments, each on its line, and the indentation of the next line.
fn write_above(out: &mut String, lines: Option<Vec<String>>, indent: usize) {
    for line in lines.unwrap_or_default() {
        out.push_str(&line);
        out.push('\n');
        pad(out, indent);
    }
}

/// Writes a space and a value, with its comment; nothing for an empty value.
fn spaced(out: &mut String, node: &Node, indent: usize, comments: &mut Comments) {
    let start = out.len();
    out.push(' ');
    inline(out, node, indent);
    if out.len() == start + 1 {
        out.truncate(start);
    }
    if !comments.after.is_empty()
        && let Some(comment) = comments.after.remove(&node.span().range().start)
        && out.get(start..).is_some_and(|written| !written.contains('\n'))
    {
        out.push(' ');
        out.push_str(&comment);
    }
}

/// Writes a scalar or an empty collection. A literal block has two more spaces of indentation than `indent`.
fn inline(out: &mut String, node: &Node, indent: usize) {
    match &node.value {
        Value::Map(_) => out.push_str("{}"),
        Value::Seq(_) => out.push_str("[]"),
        Value::Scalar(text, style) => scalar(out, text, *style, indent),
    }
}

fn scalar(out: &mut String, text: &str, style: Style, indent: usize) {
    let plain = match style {
        // A plain scalar keeps its text, and so its type.
        Style::Plain => text.is_empty() || is_plain_text(text, Context::Value),
        _ => is_plain_word(text, Context::Value),
    };
    if plain {
        out.push_str(text);
    } else if !block(out, text, indent + 2) {
        double(out, text);
    }
}

fn key(out: &mut String, entry: &Entry) {
    let text = &*entry.key;
    // A plain key keeps its type, except null, which readers reject.
    let typed =
        || entry.is_plain() && is_plain_text(text, Context::Key) && resolve_plain(text, Reader::Core) != Scalar::Null;
    let plain = is_plain_word(text, Context::Key) || typed();
    if plain {
        out.push_str(text);
    } else {
        double(out, text);
    }
}

fn end_line(out: &mut String) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn pad(out: &mut String, indent: usize) {
    let _ = write!(out, "{:indent$}", "");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    fn printed(text: &str) -> String {
        let nodes: Vec<Node> =
            parse(&File::new("a.yaml", text)).documents.into_iter().map(|document| document.node).collect();
        print(&nodes)
    }

    #[test]
    fn collections_are_indented_by_two_and_documents_separated() {
        let text = "a:\n- b: 1\n  c: [x, [y, z]]\n- {}\nd: []\n---\n- 1\n";
        let expected = "a:\n  - b: 1\n    c:\n      - x\n      - - y\n        - z\n  - {}\nd: []\n---\n- 1\n";
        assert_eq!(printed(text), expected);
    }

    #[test]
    fn strings_are_quoted_if_a_reader_would_resolve_another_type() {
        let text =
            "{a: 'yes', b: \"1.10\", c: '1.1.0', d: 0755, e: 'a: b', f: '${X}', g: '', h: 'it''s', 'on': x, i: }";
        let expected =
            "a: \"yes\"\nb: \"1.10\"\nc: 1.1.0\nd: 0755\ne: \"a: b\"\nf: ${X}\ng: \"\"\nh: it's\n\"on\": x\ni:\n";
        assert_eq!(printed(text), expected);
    }

    #[test]
    fn text_of_several_lines_is_printed_as_a_literal_block() {
        let text = r#"{a: "x\ny\n", b: "x\ny", c: "x\n\n", d: " x\ny\n", e: "x\r\n"}"#;
        let expected = "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\n  y\ne: \"x\\r\\n\"\n";
        assert_eq!(printed(text), expected);
    }
}
