//! What SOPS encrypted: kustomize-controller decrypts it before it builds, and nobody here can know what it says then.

use super::files::Files;
use crate::yaml::{Entry, Node, Style, Value, decode_base64};

/// The key that SOPS adds to a mapping that it encrypts.
const METADATA: &str = "sops";

/// What SOPS adds to the lines of variables.
const METADATA_PREFIX: &str = "sops_";

/// How a file was encrypted, which its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    /// Anything else is put into JSON as a whole, so that both have one mark.
    Json,
    Dotenv,
    Ini,
}

impl Format {
    const ALL: [Self; 4] = [Self::Yaml, Self::Json, Self::Dotenv, Self::Ini];

    pub(crate) fn from_file_name(name: &str) -> Self {
        let ends = |ending: &str| name.ends_with(ending);
        match () {
            () if ends(".yaml") || ends(".yml") => Self::Yaml,
            () if ends(".env") => Self::Dotenv,
            () if ends(".ini") => Self::Ini,
            () => Self::Json,
        }
    }

    /// The format of a file of variables: lines unless its name says otherwise.
    pub(crate) fn from_env_file_name(name: &str) -> Self {
        let is_json = [".json", ".dockerconfigjson"].iter().any(|ending| name.ends_with(ending));
        match Self::from_file_name(name) {
            Self::Json if !is_json => Self::Dotenv,
            format => format,
        }
    }

    /// Tells whether a text was encrypted in this format. The controller leaves others as they are.
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
    /// The same files for a build that decrypts first: what SOPS encrypted and kustomizations name for Secrets and
    /// patches has values that nobody knows.
    #[must_use]
    pub fn decrypted(mut self) -> Self {
        self.decrypts = true;
        self
    }
}

/// What an object says once it is decrypted; `None` where nothing of it is encrypted.
pub fn decrypted(node: &Node) -> Option<Node> {
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

/// A mapping without what SOPS added, whose encrypted values are unknown.
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

/// What is shown for the text of a whole file that is encrypted.
pub(crate) fn masked_file(name: &str) -> String {
    format!("ENC[{name}]")
}

/// Tells whether a text is a value that SOPS encrypted.
pub(crate) fn is_encrypted_value(text: &str) -> bool {
    text.starts_with("ENC[") && text.ends_with(']')
}

/// Tells whether a line of variables is one that SOPS added.
pub(crate) fn is_sops_line(key: &str) -> bool {
    key.starts_with(METADATA_PREFIX)
}

/// Tells whether a value of a Secret's `data` is a file that SOPS encrypted.
fn is_encrypted_file(node: &Node) -> bool {
    let text = node.text().filter(|_| !matches!(node.value, Value::Scalar(_, Style::Unknown)));
    let bytes = text.and_then(decode_base64);
    let text = bytes.as_deref().map(String::from_utf8_lossy);
    text.is_some_and(|text| Format::ALL.iter().any(|format| format.encrypts(&text)))
}
