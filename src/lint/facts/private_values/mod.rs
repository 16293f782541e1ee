//! Private values in plain text: the only place that decides which values are private.
//!
//! A value is private because of its shape (a private key, a token with a known prefix, an address with a password), or
//! because of its name. Names are less certain.

mod name;
mod shape;
mod search;

use crate::kube::Object;
use crate::text::Span;
use crate::yaml::{ChangedBy, Entry, Name, Node, Origin, Style, Value, decode_base64};
pub use search::private_values;

/// A private value in plain text.
#[derive(Debug, Clone)]
pub struct Private {
    /// The place of the value.
    pub span: Span,
    /// The name of the value; empty for a part of a text without names.
    pub name: String,
    /// The reason why the value is private.
    pub evidence: Evidence,
    /// The variable that sets the value.
    pub variable: Option<Name>,
}

impl Private {
    fn new(node: &Node, name: &str, evidence: Evidence) -> Self {
        let variable = match &node.origin {
            Origin::Via(change) => match &change.by {
                ChangedBy::Variable(name) => Some(name.clone()),
                _ => None,
            },
            Origin::At(_) => None,
        };
        Self { span: node.span().clone(), name: name.to_string(), evidence, variable }
    }
}

/// The reason why a value is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Its name denotes a secret, but it is a well-known password such as `changeme`.
    Guessable,
    /// Its name denotes a secret.
    Name,
    /// The author put it into a Secret, under a name that denotes a secret.
    Secret,
    /// Its shape, as a noun with its article.
    Shape(&'static str),
}

/// The private values of a Secret: those of `stringData`, and those of `data` as far as they are readable.
pub(crate) fn in_secret(object: &Object) -> Vec<Private> {
    // SOPS adds a field `sops` to the objects that it encrypts.
    if object.node.get("sops").is_some() {
        return Vec::new();
    }
    let entries = |field: &str| object.node.get(field).map(Node::entries).unwrap_or_default();
    let plain = entries("stringData").iter().flat_map(|entry| in_entry(entry, entry.node.text()));
    let encoded = entries("data").iter().flat_map(|entry| {
        // A placeholder for a value that is set later is not encoded.
        if entry.node.text().is_some_and(|text| text.is_empty() || shape::is_placeholder(text)) {
            return Vec::new();
        }
        in_entry(entry, entry.node.text().and_then(decoded).as_deref())
    });
    plain.chain(encoded).collect()
}

/// The credentials in the address of a field.
pub(crate) fn in_address(node: &Node, field: &str) -> Option<Private> {
    let shape = shape::find(node.text()?)?;
    Some(Private::new(node, field, Evidence::Shape(shape.what)))
}

/// The credentials in the address of a webhook, whose last segment may be one.
pub(crate) fn in_webhook(node: &Node, field: &str) -> Option<Private> {
    let is_token = shape::ends_with_token(node.text()?);
    in_address(node, field).or_else(|| is_token.then(|| Private::new(node, field, Evidence::Name)))
}

/// The extensions of files that contain private keys in a binary format.
const KEY_STORES: [&str; 6] = [".jks", ".p12", ".pfx", ".keystore", ".kdbx", ".key"];

/// The private parts of a value of a Secret. `text` is the decoded value; `None` if it is not text.
fn in_entry(entry: &Entry, text: Option<&str>) -> Vec<Private> {
    let (key, node) = (&*entry.key, &entry.node);
    let is_told = name::of_secret(key);
    let private = |evidence: Evidence| vec![Private::new(node, key, evidence)];
    if matches!(node.value, Value::Scalar(_, Style::Unknown)) || key.starts_with("sops_") {
        return Vec::new();
    }
    let Some(text) = text else {
        let is_store = KEY_STORES.iter().any(|end| key.to_ascii_lowercase().ends_with(end));
        return if is_store || is_told { private(Evidence::Secret) } else { Vec::new() };
    };
    let value = text.trim();
    if is_encrypted_file(value) || shape::is_public(value) {
        return Vec::new();
    }
    if search::is_structured(value) {
        let mut found = search::in_text(node, text);
        // The format of the file is unknown, but its name tells.
        let looks_random = || value.split_whitespace().any(shape::looks_random);
        if found.is_empty() && is_told && !search::is_mapping(value) && looks_random() {
            found = private(Evidence::Secret);
        }
        let is_registry = matches!(key, ".dockerconfigjson" | ".dockercfg");
        for one in &mut found {
            if one.name.is_empty() {
                one.name = key.to_string();
            }
            if is_registry && one.evidence == Evidence::Name {
                one.evidence = Evidence::Secret;
            }
        }
        return found;
    }
    if let Some(shape) = shape::find(value) {
        return private(Evidence::Shape(shape.what));
    }
    let is_switch = matches!(value, "true" | "false" | "yes" | "no" | "on" | "off");
    if shape::is_placeholder(value) || name::is_public(key) || is_switch || shape::is_address(value) {
        return Vec::new();
    }
    match (is_told, shape::is_guessable(value)) {
        (true, true) => private(Evidence::Guessable),
        (true, false) => private(Evidence::Secret),
        (false, _) if shape::looks_random(value) => private(Evidence::Name),
        (false, _) => Vec::new(),
    }
}

/// The decoded text of a value of a Secret's `data`; `None` if it is not text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(decode_base64(text)?).ok()
}

/// Returns whether SOPS encrypted a whole file: each of its formats ends with a message authentication code.
pub(crate) fn is_encrypted_file(text: &str) -> bool {
    ["\"mac\": \"ENC[", "mac: ENC[", "sops_mac=ENC["].iter().any(|mark| text.contains(mark))
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
