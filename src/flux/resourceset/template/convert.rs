//! The conversion between nodes and the values of templates.

use arcstr::ArcStr;

use super::fault::Fault;
use super::go;
use super::value::{Kind, Value};
use crate::text::{File, Span};
use crate::yaml::{Entry, Node, Reader, Scalar, Style, Value as Yaml};

/// The maximum nesting depth of a value.
const MAX_DEPTH: usize = 100;

/// Converts a node to the value on the cluster. Scalars keep their positions. `name` is the name of an unknown value.
pub(in crate::flux::resourceset) fn from_node(node: &Node, name: &str) -> Value {
    let place = Some(node.span().clone());
    let kind = match &node.value {
        Yaml::Map(entries) => {
            let entries = entries.iter();
            let entry = |entry: &Entry| (entry.key.clone(), from_node(&entry.node, &format!("{name}.{}", entry.key)));
            return Value { place, ..Value::map(entries.map(entry).collect()) };
        }
        Yaml::Seq(items) => {
            return Value { place, ..Value::list(items.iter().map(|item| from_node(item, name)).collect()) };
        }
        Yaml::Scalar(_, Style::Unknown) => Kind::Unknown(name.into()),
        Yaml::Scalar(..) => match node.resolve(Reader::Kustomize) {
            None | Some(Scalar::Null) => Kind::Nil,
            Some(Scalar::Bool(value)) => Kind::Bool(value),
            Some(Scalar::Int(value)) => match i64::try_from(value) {
                Ok(value) => Kind::Int64(value),
                #[expect(clippy::cast_precision_loss, reason = "Go converts likewise")]
                Err(_) => Kind::Float(value as f64),
            },
            #[expect(clippy::cast_possible_truncation, reason = "it is an integer of 64 bits")]
            Some(Scalar::Float(value)) if value.fract() == 0.0 && value.abs() < 9e18 => Kind::Int64(value as i64),
            Some(Scalar::Float(value)) => Kind::Float(value),
            Some(Scalar::String(text)) => Kind::Text(text.into()),
        },
    };
    Value { kind, place }
}

/// Converts a value to a node for printing.
pub(super) fn to_node(value: &Value) -> Result<Node, Fault> {
    let nowhere = File::new("", "").span(0..0);
    node(value, &nowhere, 0)
}

fn node(value: &Value, at: &Span, depth: usize) -> Result<Node, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::bound(0, "a value is nested too deeply"));
    }
    let plain = |text: String| Yaml::Scalar(text.into(), Style::Plain);
    let yaml = match &value.kind {
        Kind::Nil => plain("null".into()),
        Kind::Bool(value) => plain(value.to_string()),
        Kind::Int(value) | Kind::Int64(value) => plain(value.to_string()),
        Kind::Float(value) => plain(go::json_float(*value)),
        Kind::Text(text) => Yaml::Scalar(text.clone(), Style::Double),
        Kind::Unknown(_) => Yaml::Scalar(go::sprint(value)?.into(), Style::Double),
        Kind::List(items, _) => {
            let items: Result<Vec<Node>, Fault> = items.iter().map(|item| node(item, at, depth + 1)).collect();
            Yaml::Seq(items?.into())
        }
        Kind::Map(entries) | Kind::Texts(entries) => {
            let entry = |(key, item): (&ArcStr, &Value)| Ok(Entry::new(key.clone(), at, node(item, at, depth + 1)?));
            let entries: Result<Vec<Entry>, Fault> = entries.borrow().iter().map(entry).collect();
            Yaml::Map(entries?.into())
        }
    };
    Ok(Node::at(yaml, at.clone()))
}
