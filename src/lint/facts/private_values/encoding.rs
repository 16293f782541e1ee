//! Encoded and encrypted values of Secrets.

use memchr::memchr;

use crate::kube::Object;
use crate::yaml::{Entry, Node, decode_base64};

/// The decoded text of a value in the `data` of a Secret; `None` if the value is not text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(decode_base64(text)?).ok()
}

/// Returns whether SOPS encrypted a whole file. Such a file contains a message authentication code, in each format.
pub(crate) fn is_encrypted_file(text: &str) -> bool {
    // Most texts are short, and contain no encrypted value.
    memchr(b'[', text.as_bytes()).is_some()
        && text.contains("ENC[")
        && ["\"mac\": \"ENC[", "mac: ENC[", "sops_mac=ENC["].iter().any(|mark| text.contains(mark))
}

/// Returns whether SOPS encrypted an object, or a file from which kustomize generated the Secret.
pub(in crate::lint::facts) fn is_encrypted(object: &Object) -> bool {
    let entries = |field: &str| object.node.get(field).map(Node::entries).unwrap_or_default().iter();
    let holds = |entry: &Entry, text: Option<String>| {
        &*entry.key == "sops_mac" || text.is_some_and(|text| is_encrypted_file(&text))
    };
    let is_generated = || {
        entries("data").any(|entry| holds(entry, entry.node.text().and_then(decoded)))
            || entries("stringData").any(|entry| holds(entry, entry.node.text().map(str::to_owned)))
    };
    object.node.get("sops").is_some() || (object.is("", "Secret") && is_generated())
}
