//! Private values: in chart values, recognized by their keys, and in Secrets.

use crate::kube::Object;
use crate::yaml::{Entry, Node, Reader, Scalar, decode_base64};

/// The entries of chart values whose keys denote secrets and whose values are plain text.
pub fn private_values(values: &Node) -> Vec<&Entry> {
    let mut private = Vec::new();
    collect_private(values, 0, &mut private);
    private
}

/// Returns whether a value contains no secret: it is empty, a variable, encrypted, or a placeholder in angle brackets.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let is_variable = text.contains("${") || text.starts_with("{{");
    text.is_empty() || is_variable || text.starts_with("ENC[") || (text.starts_with('<') && text.ends_with('>'))
}

/// Returns whether a value is a certificate or a public key.
pub(crate) fn is_public(text: &str) -> bool {
    let public = ["ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-", "sk-ssh-ed25519"];
    let is_pem = text.starts_with("-----BEGIN ") && !text.contains("PRIVATE KEY");
    is_pem || public.iter().any(|start| text.starts_with(start))
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
pub(super) fn is_encrypted(object: &Object) -> bool {
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

/// The maximum depth at which values are searched.
const MAX_DEPTH: usize = 32;

/// Collects the entries whose keys denote secrets.
fn collect_private<'a>(node: &'a Node, depth: usize, private: &mut Vec<&'a Entry>) {
    if depth > MAX_DEPTH {
        return;
    }
    for item in node.items() {
        collect_private(item, depth + 1, private);
    }
    for entry in node.entries() {
        let value = entry.node.text().filter(|_| is_string(&entry.node)).map(str::trim);
        match value {
            Some(value)
                if denotes_secret(&entry.key)
                    && !is_key_of_secret(&entry.key, node)
                    && !is_placeholder(value)
                    && !is_public(value)
                    && !is_reference(value) =>
            {
                private.push(entry);
            }
            _ => collect_private(&entry.node, depth + 1, private),
        }
    }
}

/// Returns whether a key denotes a secret, and not the location of one.
fn denotes_secret(key: &str) -> bool {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let ends = [
        "password",
        "passwd",
        "secretkey",
        "secretaccesskey",
        "apikey",
        "privatekey",
        "clientsecret",
        "accesstoken",
        "authtoken",
        "apitoken",
        "secretkeybase",
        "encryptionkey",
        "adminpassword",
        "rootpassword",
    ];
    let is_location = ["existing", "ref", "file", "path", "name"].iter().any(|word| key.contains(word));
    !is_location && ends.iter().any(|end| key.ends_with(end))
}

/// Whether a value is a key of a Secret that a sibling entry names, such as `secretKey` beside `existingSecret`.
fn is_key_of_secret(key: &str, among: &Node) -> bool {
    let names_secret = |other: &str| {
        let other = other.to_ascii_lowercase();
        ["secret", "secretname", "secretref"].iter().any(|end| other.ends_with(end))
    };
    let is_key = key.to_ascii_lowercase().ends_with("secretkey");
    is_key && among.entries().iter().any(|entry| *entry.key != *key && names_secret(&entry.key))
}

fn is_string(node: &Node) -> bool {
    matches!(node.resolve(Reader::Kustomize), Some(Scalar::String(_)))
}

/// Returns whether a value refers to the secret instead of containing it: a path, a vault reference, `$(NAME)`.
fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '$', '%'])
        || value.contains("://")
        || value.starts_with("ref+")
        || value.starts_with("vault:")
}
