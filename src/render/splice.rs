//! Values in rendered templates. They are inserted as nodes, never as YAML text.
//!
//! During rendering, a printed value is written as a mark, which every YAML parser reads as a plain scalar. After
//! parsing, the marks are replaced with the values. Therefore, a value cannot break or forge the structure of a
//! manifest, a mapping needs no indentation, and a key with the value `none` is omitted.

use std::fmt::Write;

use minijinja::Value;
use minijinja::value::ValueKind;

use crate::text::Span;
use crate::yaml::{Entry, Node, Style, Value as Written, from_json, print};

/// The private-use characters of marks. A YAML parser reads marks as plain scalars, and manifests do not contain these
/// characters.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

/// The value of a mark.
#[derive(Debug, Clone, PartialEq)]
enum Meant {
    Nothing,
    Text(String),
    Json(serde_json::Value),
}

/// A value at a place where a value is not valid.
#[derive(Debug, Clone)]
pub(super) struct MisplacedValue {
    /// The place in the rendered text.
    pub span: Span,
    /// The message.
    pub message: &'static str,
}

/// Writes a printed value as a mark. Captured text, such as the result of a macro, contains marks and is not changed.
pub(super) fn mark(value: &Value, out: &mut impl Write) -> Result<(), String> {
    let marked = |out: &mut dyn Write, sort: char, text: &str| -> std::fmt::Result {
        write!(out, "{OPEN}{sort}")?;
        for byte in text.bytes() {
            write!(out, "{byte:02x}")?;
        }
        write!(out, "{CLOSE}")
    };
    let written = match value.kind() {
        ValueKind::None | ValueKind::Undefined => marked(out, 'n', ""),
        ValueKind::String if value.is_safe() => out.write_str(value.as_str().unwrap_or_default()),
        ValueKind::String => marked(out, 's', value.as_str().unwrap_or_default()),
        // Jinja would write `True`.
        ValueKind::Bool => write!(out, "{}", value.is_true()),
        ValueKind::Number => write!(out, "{value}"),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => marked(out, 'j', &json(value)?.to_string()),
        other => return Err(format!("a value of kind `{other}` cannot be written")),
    };
    written.map_err(|error| error.to_string())
}

/// The maximum nesting depth of a value.
const MAX_DEPTH: usize = 64;

/// Converts a value to JSON.
pub(super) fn json(value: &Value) -> Result<serde_json::Value, String> {
    nested(value, MAX_DEPTH)
}

fn nested(value: &Value, depth: usize) -> Result<serde_json::Value, String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("a value is nested more than {MAX_DEPTH} levels deep"));
    };
    Ok(match value.kind() {
        ValueKind::None => serde_json::Value::Null,
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => number(value),
        ValueKind::String => plain(value.as_str().unwrap_or_default()).into(),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter().map_err(|error| error.to_string())?;
            serde_json::Value::Array(items.map(|item| nested(&item, depth)).collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut fields = serde_json::Map::new();
            for key in value.try_iter().map_err(|error| error.to_string())? {
                let field = value.get_item(&key).map_err(|error| error.to_string())?;
                fields.insert(key.to_string(), nested(&field, depth)?);
            }
            fields.into()
        }
        other => return Err(format!("a value of kind `{other}` cannot be written")),
    })
}

fn number(value: &Value) -> serde_json::Value {
    let whole = value.as_i64().map(serde_json::Value::from);
    let large = || u64::try_from(value.clone()).ok().map(serde_json::Value::from);
    let float = || f64::try_from(value.clone()).ok().and_then(serde_json::Number::from_f64).map(Into::into);
    whole.filter(|_| value.is_integer()).or_else(large).or_else(float).unwrap_or(serde_json::Value::Null)
}

/// Replaces the marks in a text that is not YAML. The value `none` is replaced with the empty text.
pub(super) fn plain(text: &str) -> String {
    if !text.contains(OPEN) {
        return text.to_owned();
    }
    pieces(text).map(Piece::into_text).collect()
}

/// Replaces the marks in a comment, which has no line breaks; `None` if a value has one.
pub(super) fn comment(text: &str) -> Option<String> {
    let text = plain(text);
    (!text.contains(char::is_control)).then_some(text)
}

/// Returns a rendered line without its values, for comparison with lines of the template.
pub(super) fn skeleton(line: &str) -> String {
    let texts = pieces(line).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Mark(_) => None,
    });
    texts.collect::<String>().trim().to_owned()
}

/// Replaces the marks in a node. Returns `None` if the value is `none`, or if all items of a collection are `none`.
pub(super) fn settle(node: &Node, misplaced: &mut Vec<MisplacedValue>) -> Option<Node> {
    match &node.value {
        // A template writes a key without a value before a loop without iterations.
        Written::Scalar(..) if node.is_null() => None,
        Written::Scalar(text, style) => scalar(node, text, *style, misplaced),
        Written::Seq(items) => {
            let kept: Vec<Node> = items.iter().filter_map(|item| settle(item, misplaced)).collect();
            let emptied = kept.is_empty() && !items.is_empty();
            (!emptied).then(|| Node { value: Written::Seq(kept.into()), origin: node.origin.clone() })
        }
        Written::Map(entries) => {
            let kept: Vec<Entry> = entries.iter().filter_map(|entry| settle_entry(entry, misplaced)).collect();
            let emptied = kept.is_empty() && !entries.is_empty();
            (!emptied).then(|| Node { value: Written::Map(kept.into()), origin: node.origin.clone() })
        }
    }
}

fn settle_entry(entry: &Entry, misplaced: &mut Vec<MisplacedValue>) -> Option<Entry> {
    let node = settle(&entry.node, misplaced)?;
    if entry.key.contains(OPEN) {
        Some(Entry::new(plain(&entry.key), &entry.key_span(), node))
    } else {
        Some(entry.with_node(node))
    }
}

fn scalar(node: &Node, text: &str, style: Style, misplaced: &mut Vec<MisplacedValue>) -> Option<Node> {
    if !text.contains(OPEN) {
        return Some(node.clone());
    }
    let span = node.span();
    if matches!(style, Style::Literal | Style::Folded) {
        return Some(Node::scalar(block(text, span), style, span.clone()));
    }
    let mut all = pieces(text);
    if let (Some(Piece::Mark(meant)), None) = (all.next(), all.next()) {
        return match meant {
            Meant::Nothing => None,
            Meant::Text(value) => Some(Node::scalar(value, Style::Double, span.clone())),
            Meant::Json(value) if is_empty(&value) => None,
            Meant::Json(value) if style == Style::Plain => Some(from_json(&value, span)),
            Meant::Json(value) => Some(Node::scalar(value.to_string(), Style::Double, span.clone())),
        };
    }
    for piece in pieces(text) {
        let message = match piece {
            Piece::Mark(Meant::Nothing) => "the value `none` is not supported inside a string",
            Piece::Mark(Meant::Json(_)) => "a list or mapping is not supported inside a string",
            Piece::Text(_) | Piece::Mark(Meant::Text(_)) => continue,
        };
        misplaced.push(MisplacedValue { span: span.clone(), message });
    }
    Some(Node::scalar(plain(text), Style::Double, span.clone()))
}

fn is_empty(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Array(items) => items.is_empty(),
        serde_json::Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

/// Replaces the marks in a block scalar, which often contains YAML, such as a patch.
///
/// A value that is the whole value of a key or an item is quoted if necessary. If the value is `none`, the line is
/// omitted. Other values are not quoted.
fn block(text: &str, span: &Span) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let mut all: Vec<Piece<'_>> = pieces(content).collect();
        let last = all.pop();
        let before: String = all.into_iter().map(Piece::into_text).collect();
        let is_value = before.ends_with(": ") || before.ends_with("- ");
        let end = match last {
            Some(Piece::Mark(Meant::Nothing)) if is_value => continue,
            Some(Piece::Mark(Meant::Text(value))) if is_value => quoted(value, span),
            other => other.map(Piece::into_text).unwrap_or_default(),
        };
        result.extend([before.as_str(), end.as_str()]);
        if line.ends_with('\n') {
            result.push('\n');
        }
    }
    result
}

fn quoted(value: String, span: &Span) -> String {
    if value.contains('\n') {
        return serde_json::Value::String(value).to_string();
    }
    print(&[Node::scalar(value, Style::Double, span.clone())]).trim_end().to_owned()
}

enum Piece<'a> {
    Text(&'a str),
    Mark(Meant),
}

impl Piece<'_> {
    /// Returns the text of the piece inside a string.
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.to_owned(),
            Self::Mark(Meant::Nothing) => String::new(),
            Self::Mark(Meant::Text(value)) => value,
            Self::Mark(Meant::Json(value)) => value.to_string(),
        }
    }
}

/// Splits a text into marks and the non-empty texts between them.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((before, after)) = rest.split_once(OPEN) else { return Some(Piece::Text(std::mem::take(&mut rest))) };
        if !before.is_empty() {
            // The next piece is the mark itself.
            rest = rest.strip_prefix(before).unwrap_or_default();
            return Some(Piece::Text(before));
        }
        let Some((inside, behind)) = after.split_once(CLOSE) else {
            return Some(Piece::Text(std::mem::take(&mut rest)));
        };
        rest = behind;
        Some(decode(inside).map_or(Piece::Text(inside), Piece::Mark))
    })
}

fn decode(inside: &str) -> Option<Meant> {
    let mut chars = inside.chars();
    let sort = chars.next()?;
    let (pairs, odd) = chars.as_str().as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    let text = String::from_utf8(bytes?).ok().filter(|_| odd.is_empty())?;
    match sort {
        'n' => Some(Meant::Nothing),
        's' => Some(Meant::Text(text)),
        'j' => serde_json::from_str(&text).ok().map(Meant::Json),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    fn settled(template: &str, value: impl Into<Value>) -> Option<String> {
        let mut text = String::new();
        mark(&value.into(), &mut text).unwrap();
        let file = File::new("a.yaml", template.replace('@', &text));
        let parsed = crate::yaml::parse(&file);
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        Some(print(&[settle(&parsed.documents[0].node, &mut Vec::new())?]))
    }

    #[test]
    fn a_value_never_becomes_structure() {
        assert_eq!(settled("a: @", "b: [c").as_deref(), Some("a: \"b: [c\"\n"));
        assert_eq!(settled("a: x-@", "b\nc: d").as_deref(), Some("a: |-\n  x-b\n  c: d\n"));
        assert_eq!(settled("@: 1", "yes").as_deref(), Some("\"yes\": 1\n"));
    }

    #[test]
    fn a_value_of_none_removes_its_key() {
        assert_eq!(settled("a: 1\nb:\n  c: @\n", ()).as_deref(), Some("a: 1\n"));
        assert_eq!(settled("a: @", ()), None);
        assert_eq!(settled("a: 1\nb: {}\nc:\n", ()).as_deref(), Some("a: 1\nb: {}\n"));
    }

    #[test]
    fn a_whole_value_in_a_block_scalar_is_quoted() {
        assert_eq!(settled("a: |\n  b: @\n  c: d@\n", "on").as_deref(), Some("a: |\n  b: \"on\"\n  c: don\n"));
        assert_eq!(settled("a: |\n  b: @\n  c: d\n", ()).as_deref(), Some("a: |\n  c: d\n"));
    }
}
