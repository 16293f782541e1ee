//! SOPS-encrypted files. kustomize-controller decrypts them before a build, so their values are unknown here.

use super::files::Files;
use crate::kube::is_encrypted_value;
use crate::yaml::{Entry, Node, Style, Value, decode_base64};

/// The key with SOPS metadata in an encrypted mapping.
const METADATA: &str = "sops";

/// The prefix of SOPS metadata in an encrypted env file.
const METADATA_PREFIX: &str = "sops_";

/// The format of an encrypted file, determined by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    /// JSON. SOPS encrypts files of unknown formats as one JSON value, with the same marker.
    Json,
    Dotenv,
    Ini,
}

impl Format {
    const ALL: [Self; 4] = [Self::Yaml, Self::Json, Self::Dotenv, Self::Ini];

    /// The format of a file; JSON unless the extension belongs to another format.
    pub(crate) fn from_file_name(name: &str) -> Self {
        let ends = |ending: &str| name.ends_with(ending);
        match () {
            () if ends(".yaml") || ends(".yml") => Self::Yaml,
            () if ends(".env") => Self::Dotenv,
            () if ends(".ini") => Self::Ini,
            () => Self::Json,
        }
    }

    /// The format of an env file: dotenv unless the extension belongs to another format.
    pub(crate) fn from_env_file_name(name: &str) -> Self {
        let is_json = [".json", ".dockerconfigjson"].iter().any(|ending| name.ends_with(ending));
        match Self::from_file_name(name) {
            Self::Json if !is_json => Self::Dotenv,
            format => format,
        }
    }

    /// Returns whether a text is encrypted in this format. kustomize-controller does not decrypt other texts.
    pub(crate) fn encrypts(self, text: &str) -> bool {
        text.contains(match self {
            Self::Yaml => "mac: ENC[",
            Self::Json => "\"mac\": \"ENC[",
            Self::Dotenv => "sops_mac=ENC[",
            Self::Ini => "[sops]",
        })
    }
}

impl Files {
    /// Enables decryption for a build of the files. Encrypted values of Secrets and patches are then unknown.
    #[must_use]
    pub fn with_decryption(mut self) -> Self {
        self.decrypts = true;
        self
    }
}

/// The object after decryption; `None` if the object is not encrypted.
pub fn decrypt_object(node: &Node) -> Option<Node> {
    if node.at_keys(&[METADATA, "mac"]).is_some() {
        return Some(decrypt_mapping(node));
    }
    if node.get("kind").and_then(Node::text) != Some("Secret") {
        return None;
    }
    let data =
        node.entry("data").filter(|data| data.node.entries().iter().any(|entry| is_encrypted_file(&entry.node)))?;
    let entries =
        data.node.entries().iter().map(|entry| match entry.node.text().filter(|_| is_encrypted_file(&entry.node)) {
            Some(_) => entry.with_node(unknown_value(&entry.node, &masked_file(&entry.key))),
            None => entry.clone(),
        });
    let entries = Node { value: Value::Map(entries.collect()), origin: data.node.origin.clone() };
    Some(node.with(data.with_node(entries)))
}

/// A mapping without SOPS metadata, with unknown values in place of encrypted values.
pub(crate) fn decrypt_mapping(node: &Node) -> Node {
    with_unknown_values(&node.without(METADATA))
}

fn with_unknown_values(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar(text, _) if is_encrypted_value(text) => return unknown_value(node, text),
        Value::Scalar(..) => return node.clone(),
        Value::Seq(items) => Value::Seq(items.iter().map(with_unknown_values).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|entry: &Entry| entry.with_node(with_unknown_values(&entry.node))).collect())
        }
    };
    Node { value, origin: node.origin.clone() }
}

fn unknown_value(node: &Node, text: &str) -> Node {
    Node { value: Value::Scalar(text.into(), Style::Unknown), origin: node.origin.clone() }
}

/// The placeholder for the text of an encrypted file.
pub(crate) fn masked_file(name: &str) -> String {
    format!("ENC[{name}]")
}

/// Returns whether a key of an env file is SOPS metadata.
pub(crate) fn is_sops_line(key: &str) -> bool {
    key.starts_with(METADATA_PREFIX)
}

/// Returns whether a value of a Secret's `data` is an encrypted file.
fn is_encrypted_file(node: &Node) -> bool {
    let text = node.text().filter(|_| !matches!(node.value, Value::Scalar(_, Style::Unknown)));
    let bytes = text.and_then(decode_base64);
    let text = bytes.as_deref().map(String::from_utf8_lossy);
    text.is_some_and(|text| Format::ALL.iter().any(|format| format.encrypts(&text)))
}
