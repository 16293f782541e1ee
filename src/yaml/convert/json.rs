//! The conversion between nodes and JSON.

use serde_json::{Map, Number};

use crate::text::Span;
use crate::yaml::scalar::resolve::{Reader, Scalar, resolve_plain};
use crate::yaml::scalar::timestamp::plain_time;
use crate::yaml::tree::node::{Entry, Node, Style, Value};

/// Converts a node to JSON, with scalars as a reader resolves them.
///
/// JSON has no infinities and no `.nan`; these values become text. [`Reader::Kubernetes`] also resolves plain keys:
/// `yes: 1` has the key `true`. [`Reader::Kustomize`] resolves a plain date to a time: `2001-01-01` becomes the string
/// `2001-01-01T00:00:00Z`.
pub fn to_json(node: &Node, reader: Reader) -> serde_json::Value {
    in_context(node, reader, false)
}

fn in_context(node: &Node, reader: Reader, in_brackets: bool) -> serde_json::Value {
    let in_brackets = in_brackets || (reader == Reader::Kustomize && node.has_brackets());
    match &node.value {
        Value::Scalar(text, style) => {
            let scalar = if *style == Style::Plain { resolve_plain(text, reader) } else { Scalar::String(text) };
            match (scalar, style, reader) {
                (Scalar::String(text), Style::Plain, Reader::Kustomize) => {
                    plain_time(text, in_brackets).unwrap_or_else(|| text.into()).into()
                }
                _ => scalar_to_json(scalar, text),
            }
        }
        Value::Seq(items) => {
            serde_json::Value::Array(items.iter().map(|item| in_context(item, reader, in_brackets)).collect())
        }
        Value::Map(entries) => {
            let pair = |entry: &Entry| (key_to_json(entry, reader), in_context(&entry.node, reader, in_brackets));
            serde_json::Value::Object(entries.iter().map(pair).collect::<Map<_, _>>())
        }
    }
}

/// Converts JSON to a node. `at` is the position of every node in the result.
pub fn from_json(value: &serde_json::Value, at: &Span) -> Node {
    let value = match value {
        serde_json::Value::Null => Value::Scalar("null".into(), Style::Plain),
        serde_json::Value::Bool(value) => Value::Scalar(value.to_string().into(), Style::Plain),
        serde_json::Value::Number(number) => Value::Scalar(number.to_string().into(), Style::Plain),
        serde_json::Value::String(text) => Value::Scalar(text.as_str().into(), Style::Double),
        serde_json::Value::Array(items) => Value::Seq(items.iter().map(|item| from_json(item, at)).collect()),
        serde_json::Value::Object(pairs) => {
            let entry = |(key, value): (&String, _)| Entry::new(key.as_str(), at, from_json(value, at));
            Value::Map(pairs.iter().map(entry).collect())
        }
    };
    Node::at(value, at.clone())
}

impl Entry {
    /// The JSON key that Kubernetes converts this key to: `yes` becomes `true`, and `0x10` becomes `16`.
    pub fn json_key(&self) -> String {
        key_to_json(self, Reader::Kubernetes)
    }
}

pub(super) fn scalar_to_json(scalar: Scalar<'_>, text: &str) -> serde_json::Value {
    match scalar {
        Scalar::Null => serde_json::Value::Null,
        Scalar::Bool(value) => value.into(),
        Scalar::Int(value) => int_to_json(value),
        // Go prints 1e3 as 1000, which is read as an integer.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 9e18 => (value as i64).into(),
        Scalar::Float(value) => Number::from_f64(value).map_or_else(|| text.into(), serde_json::Value::Number),
        Scalar::String(text) => text.into(),
    }
}

fn int_to_json(value: i128) -> serde_json::Value {
    #[expect(clippy::cast_precision_loss, reason = "JSON has no wider integers")]
    let float = || Number::from_f64(value as f64).map_or(serde_json::Value::Null, serde_json::Value::Number);
    let signed = i64::try_from(value).map(serde_json::Value::from);
    signed.or_else(|_| u64::try_from(value).map(serde_json::Value::from)).unwrap_or_else(|_| float())
}

/// The JSON key that a reader converts a key to: see [`to_json`].
pub fn key_to_json(entry: &Entry, reader: Reader) -> String {
    let key = &*entry.key;
    if reader != Reader::Kubernetes {
        return key.into();
    }
    match resolve_plain(key, reader) {
        Scalar::Null | Scalar::String(_) => key.into(),
        _ if !entry.is_plain() => key.into(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => float_key(value),
    }
}

/// A number as Kubernetes converts it to a key: in single precision, with an exponent for a million or more.
fn float_key(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the reader prints single precision")]
    let value = value as f32;
    if !value.is_finite() {
        return if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        }
        .into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        -4..6 => value.to_string(),
        exponent => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;
    use crate::yaml::parse;

    fn read(text: &str) -> Node {
        parse(&File::new("a.yaml", text)).documents.remove(0).node
    }

    #[test]
    fn scalars_become_the_values_that_the_reader_resolves() {
        let node = read("{a: 0775, b: yes, c: 1.10, d: '1', e: , f: 1e3, on: .inf, 'off': 1}");
        let expected = r#"{"a":509,"b":true,"c":1.1,"d":"1","e":null,"f":1000,"true":".inf","off":1}"#;
        assert_eq!(to_json(&node, Reader::Kubernetes).to_string(), expected);
        let expected = r#"{"a":775,"b":"yes","c":1.1,"d":"1","e":null,"f":1000,"on":".inf","off":1}"#;
        assert_eq!(to_json(&node, Reader::Core).to_string(), expected);
    }

    #[test]
    fn json_survives_a_round_trip() {
        let value = serde_json::json!({"a": [1, -2.5, "x", "yes", null, true], "b": {"": {}}});
        let node = from_json(&value, &File::new("a.json", "").span(0..0));
        assert_eq!(to_json(&node, Reader::Kubernetes), value);
        assert_eq!(to_json(&node, Reader::Core), value);
    }
}
