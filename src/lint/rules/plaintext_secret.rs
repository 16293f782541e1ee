use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::facts::private_values::{decoded, is_encrypted_file, is_placeholder, is_public, private_values};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Entry, Node, Style, Value};

declare! {
    /// A Secret, a secretGenerator or the values of a chart hold something private that anybody who reads the repository can read.
    ///
    /// ## Why
    ///
    /// What was committed once stays in the history, in every clone, in CI logs and in the artifact that Flux pushes: it must be
    /// taken for known. The value is never shown here.
    ///
    /// Public keys, certificates and authorities, empty values and `${VARIABLES}` are nothing private. Of the values of a chart
    /// only the name of a key tells, so that is a warning.
    ///
    /// ## How to fix it
    ///
    /// Change the password first. Then encrypt the file with SOPS, seal it, or let External Secrets fetch it.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: correct-horse
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Secret
    /// metadata:
    ///   name: database
    ///   namespace: shop
    /// stringData:
    ///   password: ${DATABASE_PASSWORD}
    /// ```
    ///
    /// ## Source
    ///
    /// [Flux: secrets management](https://fluxcd.io/flux/security/secrets-management/),
    /// [SOPS](https://fluxcd.io/flux/guides/mozilla-sops/)
    "plaintext-secret", Error, "a secret can be read in the repository", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if object.is("", "Secret") {
        check_secret(object, found);
    } else if object.is(groups::HELM, "HelmRelease") {
        let values = object.node.at_keys(&["spec", "values"]);
        for entry in values.map(private_values).unwrap_or_default() {
            let message = format!("{} has a readable `{}` among its values", object.reference(), entry.key);
            let help = "let the chart take it from a Secret, or put it into a Secret that `valuesFrom` names";
            found.push(
                Finding::warning(RULE.id, entry.node.span().clone(), message).help(help).about(object.reference()),
            );
        }
    }
}

/// One finding for each Secret: at its first private value.
fn check_secret(object: &Object, found: &mut Findings) {
    // What SOPS encrypted says so at its top.
    if object.node.get("sops").is_some() {
        return;
    }
    let entries = |field: &str| object.node.get(field).map(Node::entries).unwrap_or_default();
    let plain = entries("stringData").iter().filter(|entry| is_private(&entry.key, &entry.node, entry.node.text()));
    let encoded = entries("data").iter().filter(|entry| {
        let decoded = entry.node.text().and_then(decoded);
        // What is filled in later stands there as it is.
        !entry.node.text().is_some_and(is_placeholder) && is_private(&entry.key, &entry.node, decoded.as_deref())
    });
    let private: Vec<&Entry> = plain.chain(encoded).collect();
    let Some(first) = private.first() else { return };
    let keys: Vec<String> = private.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let message = format!("{} holds {} for everybody to read", object.reference(), keys.join(", "));
    let help = "change what it holds, then encrypt the file with SOPS, seal it, or let External Secrets fetch it; what was \
                committed stays in the history";
    found.push(Finding::error(RULE.id, first.node.span().clone(), message).help(help).about(object.reference()));
}

/// Keys of Secrets whose values are no secrets.
const PUBLIC_KEYS: [&str; 24] = [
    "ca.crt",
    "tls.crt",
    "ca.pem",
    "cert.pem",
    "known_hosts",
    "identity.pub",
    "username",
    "user",
    "url",
    "uri",
    "endpoint",
    "address",
    "host",
    "hostname",
    "port",
    "region",
    "type",
    "name",
    "email",
    "database",
    "bucket",
    "issuer",
    "domain",
    "project",
];

/// The words in keys that say of anything that it is private, be it as short as a number.
const PRIVATE_WORDS: [&str; 7] = ["pass", "token", "secret", "key", "pin", "auth", "cred"];

/// Whether a value of a Secret is private, as far as it can be read. `text` is the value, decoded.
fn is_private(key: &str, node: &Node, text: Option<&str>) -> bool {
    if matches!(node.value, Value::Scalar(_, Style::Unknown)) {
        return false;
    }
    let is_identifier = is_identifier(key);
    let key = key.to_ascii_lowercase();
    // What cannot be decoded is binary: a key store is private, whatever it looks like.
    let is_certificate = [".crt", ".pub"].iter().any(|end| key.ends_with(end));
    let Some(text) = text.map(str::trim) else { return !is_certificate };
    let is_setting = is_setting(text) && !PRIVATE_WORDS.iter().any(|word| key.contains(word));
    let is_public_key = is_certificate || is_identifier || is_setting || PUBLIC_KEYS.contains(&key.as_str());
    let is_switch = text == "true" || text == "false";
    let is_of_sops = key.starts_with("sops_");
    if is_placeholder(text) || is_public(text) || is_encrypted_file(text) || is_of_sops {
        return false;
    }
    signs_in(text) || !(is_public_key || is_switch)
}

/// Whether a key says that its value is the identifier of something: of a client, a tenant, a subscription. The
/// identifiers of secrets and sessions are as good as these.
fn is_identifier(key: &str) -> bool {
    let ends = ["_ID", "_id", "-id", ".id", "Id"].iter().any(|end| key.ends_with(end));
    let ends =
        ends || key.strip_suffix("ID").is_some_and(|rest| rest.ends_with(|last: char| last.is_ascii_lowercase()));
    let key = key.to_ascii_lowercase();
    ends && !["secret", "session"].iter().any(|word| key.contains(word))
}

/// Whether a value is a number or a duration, such as a limit or a period.
fn is_setting(text: &str) -> bool {
    let unit = text.trim_start_matches(|each: char| each.is_ascii_digit() || each == '.');
    unit.len() < text.len() && matches!(unit, "" | "ms" | "s" | "m" | "h")
}

/// Whether a value is an address with a password in it.
fn signs_in(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    user.is_some_and(|(_, password)| !password.is_empty() && !is_placeholder(password))
}
