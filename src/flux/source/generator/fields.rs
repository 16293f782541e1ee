//! The fields of an ArtifactGenerator.

use super::stop::Stop;
use crate::kube::Object;
use crate::yaml::{Name, Node, Style, Value};

pub(super) fn items<'a>(object: &'a Object, keys: &[&str]) -> &'a [Node] {
    object.node.at_keys(keys).map(Node::items).unwrap_or_default()
}

/// The value of a required field.
pub(super) fn required<'a>(node: &'a Node, field: &str) -> Result<&'a Node, Stop> {
    let found = node.get(field).filter(|value| value.text().is_some() && !value.is_null());
    found.ok_or_else(|| {
        Stop::failed(
            node.span(),
            format!("the required field `{field}` is missing"),
            "set the field; without it, the API server rejects the object",
        )
    })
}

pub(super) fn name_of(node: &Node) -> Name {
    node.shared_text().unwrap_or_default()
}

pub(super) fn shown(node: &Node) -> &str {
    node.text().unwrap_or_default()
}

pub(super) fn has_unknown(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_, style) => *style == Style::Unknown,
        Value::Seq(items) => items.iter().any(has_unknown),
        Value::Map(entries) => entries.iter().any(|entry| has_unknown(&entry.node)),
    }
}
