//! The hash suffix of generated objects.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::kustomize::objects::resources::Resources;
use crate::kustomize::text::go_json;
use crate::kustomize::text::string_value::with_text;
use crate::yaml::{ChangedBy, Node, Reader, Style, Value, to_json};

/// The suffix for unknown content: it has the length of a hash, and a letter that no hash contains.
const UNKNOWN: &str = "xxxxxxxxxx";

/// Adds a hash suffix to the names of generated objects, unless the suffix is disabled.
pub(crate) fn add_to_names(resources: &mut Resources) {
    for resource in resources.list.iter_mut().filter(|resource| resource.history.hashed) {
        let Some(metadata) = resource.node.entry("metadata") else { continue };
        let Some(name) = metadata.node.entry("name") else { continue };
        let known = !["data", "stringData", "binaryData"].iter().any(|field| has_unknown(resource.node.get(field)));
        let suffix = if known { hash(&resource.node) } else { UNKNOWN.to_string() };
        let text = format!("{}-{suffix}", name.node.text().unwrap_or_default());
        let mut new = with_text(&name.node, &text, ChangedBy::Generator(name.node.origin.written().clone()));
        if !known {
            new.value = Value::Scalar(text.into(), Style::Unknown);
        }
        let node = resource.node.with(metadata.with_node(metadata.node.with(name.with_node(new))));
        resource.store_previous_id();
        resource.replace(node);
    }
}

fn has_unknown(field: Option<&Node>) -> bool {
    field.is_some_and(|field| field.entries().iter().any(|entry| is_unknown(&entry.node)))
}

fn is_unknown(node: &Node) -> bool {
    matches!(node.value, Value::Scalar(_, Style::Unknown))
}

/// Ten characters of the digest of the content, encoded without vowels.
fn hash(node: &Node) -> String {
    let kind = node.get("kind").and_then(Node::text).unwrap_or_default();
    let mut fields = vec![("kind", Json::from(kind)), ("name", Json::from("")), ("data", field(node, "data"))];
    let optional = match kind {
        "Secret" => {
            fields.push(("type", field(node, "type")));
            "stringData"
        }
        _ => "binaryData",
    };
    if node.get(optional).is_some_and(Node::is_map) {
        fields.push((optional, field(node, optional)));
    }
    let object: serde_json::Map<String, Json> =
        fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let digest = Sha256::digest(go_json::print(&Json::Object(object), false));
    let digits = digest.iter().take(5).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"gh2k456789mbcdtf"[usize::from(digit)])).collect()
}

fn field(node: &Node, key: &str) -> Json {
    match node.get(key) {
        None => Json::from(""),
        Some(node) => match &node.value {
            Value::Scalar(text, _) => Json::from(&**text),
            Value::Seq(_) => Json::Null,
            Value::Map(_) => to_json(node, Reader::Kustomize),
        },
    }
}
