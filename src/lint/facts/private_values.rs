//! What is private: of the values of a chart, as their keys tell, and of Secrets.

use crate::kube::Object;
use crate::yaml::{Entry, Node, Reader, Scalar, decode_base64};

/// The entries among the values of a chart whose keys say that they are private, and whose values can be read.
pub fn private_values(values: &Node) -> Vec<&Entry> {
    let mut telling = Vec::new();
    find_telling(values, 0, &mut telling);
    telling
}

/// Whether a value is left to be filled in: empty, a variable, an encrypted one, or a placeholder in angle brackets.
pub(crate) fn is_nothing(text: &str) -> bool {
    let is_variable = text.contains("${") || text.starts_with("{{");
    text.is_empty() || is_variable || text.starts_with("ENC[") || (text.starts_with('<') && text.ends_with('>'))
}

/// Whether a value is made to be known: a certificate, a public key.
pub(crate) fn is_public(text: &str) -> bool {
    let public = ["ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-", "sk-ssh-ed25519"];
    let is_pem = text.starts_with("-----BEGIN ") && !text.contains("PRIVATE KEY");
    is_pem || public.iter().any(|start| text.starts_with(start))
}

/// What Kubernetes makes of a value of a Secret's `data`; `None` for what is no text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    String::from_utf8(decode_base64(text)?).ok()
}

/// Whether a file was encrypted with SOPS as a whole: each of its formats ends with a code over the rest.
pub(crate) fn is_encrypted_file(text: &str) -> bool {
    ["\"mac\": \"ENC[", "mac: ENC[", "sops_mac=ENC["].iter().any(|mark| text.contains(mark))
}

/// Whether an object is encrypted with SOPS, or is a Secret that was generated from what is.
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

/// How deep values are looked through.
const MAX_DEPTH: usize = 32;

/// The entries of values whose keys say that they are private.
fn find_telling<'a>(node: &'a Node, depth: usize, telling: &mut Vec<&'a Entry>) {
    if depth > MAX_DEPTH {
        return;
    }
    for item in node.items() {
        find_telling(item, depth + 1, telling);
    }
    for entry in node.entries() {
        let value = entry.node.text().filter(|_| is_string(&entry.node)).map(str::trim);
        match value {
            Some(value)
                if tells(&entry.key)
                    && !is_key_of_secret(&entry.key, node)
                    && !is_nothing(value)
                    && !is_public(value)
                    && !is_reference(value) =>
            {
                telling.push(entry);
            }
            _ => find_telling(&entry.node, depth + 1, telling),
        }
    }
}

/// Whether a key says that its value is private, and not where that is.
fn tells(key: &str) -> bool {
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
    let is_place = ["existing", "ref", "file", "path", "name"].iter().any(|word| key.contains(word));
    !is_place && ends.iter().any(|end| key.ends_with(end))
}

/// Whether a value is the key of a Secret that is named beside it, as `secretKey` is beside `existingSecret`.
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

/// Whether a value is an address of the secret rather than the secret: a path, a reference of a vault, `$(NAME)`.
fn is_reference(value: &str) -> bool {
    value.starts_with(['/', '$', '%'])
        || value.contains("://")
        || value.starts_with("ref+")
        || value.starts_with("vault:")
}
