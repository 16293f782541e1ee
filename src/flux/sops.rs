//! Objects encrypted by SOPS: what they say once Flux decrypted them is known to be there, and nobody here can know it.

use crate::kube::Object;
use crate::yaml::{Entry, Node, Style, Value};

/// The key that SOPS adds to what it encrypts.
const METADATA: &str = "sops";

/// Decrypts an object as far as that can be done without the key: what is encrypted becomes unknown.
pub(super) fn decrypt(object: &mut Object) {
    let encrypted = object.node.at_keys(&[METADATA, "mac"]).is_some();
    if encrypted {
        object.node = opaque(&object.node.without(METADATA));
    }
}

fn opaque(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar(text, _) if is_encrypted(text) => Value::Scalar(text.clone(), Style::Unknown),
        Value::Scalar(..) => return node.clone(),
        Value::Seq(items) => Value::Seq(items.iter().map(opaque).collect()),
        Value::Map(entries) => Value::Map(entries.iter().map(of_entry).collect()),
    };
    Node { value, origin: node.origin.clone() }
}

fn of_entry(entry: &Entry) -> Entry {
    entry.with_node(opaque(&entry.node))
}

/// Tells whether a text is a value that SOPS encrypted.
fn is_encrypted(text: &str) -> bool {
    text.starts_with("ENC[") && text.ends_with(']')
}
