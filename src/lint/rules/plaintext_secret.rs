use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::{Object, groups};
use crate::lint::context::Context;
use crate::lint::facts::private_values::{decoded, is_encrypted_file, is_placeholder, is_public, private_values};
use crate::lint::findings::Findings;
use crate::lint::rule::{Check, declare};
use crate::yaml::{Entry, Node, Style, Value};

declare! {
    /// A Secret, a secretGenerator or the values of a chart contain a private value in plain text.
    ///
    /// ## Why
    ///
    /// A committed value stays in the history, in every clone, in CI logs and in the artifact that Flux pushes: treat
    /// it as disclosed. The rule never shows the value.
    ///
    /// Public keys, certificates, certificate authorities, empty values and `${VARIABLES}` are not private. In the
    /// values of a chart, only the name of a key shows that its value is private, so the severity is warning.
    ///
    /// ## How to fix it
    ///
    /// Change the password first. Then encrypt the file with SOPS, seal it, or fetch the value with External Secrets.
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
    "plaintext-secret", Error, "the repository contains a private value in plain text", Check::Object(check),
}

fn check(applied: &Applied<'_>, _: Context<'_>, found: &mut Findings) {
    let object = applied.object;
    if object.is("", "Secret") {
        check_secret(object, found);
    } else if object.is(groups::HELM, "HelmRelease") {
        let values = object.node.at_keys(&["spec", "values"]);
        for entry in values.map(private_values).unwrap_or_default() {
            let message = format!("{} has `{}` in plain text in its values", object.reference(), entry.key);
            let help = "let the chart read it from a Secret, or move it to a Secret that `valuesFrom` references";
            found.push(
                Finding::warning(RULE.id, entry.node.span().clone(), message).help(help).about(object.reference()),
            );
        }
    }
}

/// Creates one finding for each Secret, at its first private value.
fn check_secret(object: &Object, found: &mut Findings) {
    // SOPS adds a field `sops` to the objects that it encrypts.
    if object.node.get("sops").is_some() {
        return;
    }
    let entries = |field: &str| object.node.get(field).map(Node::entries).unwrap_or_default();
    let plain = entries("stringData").iter().filter(|entry| is_private(&entry.key, &entry.node, entry.node.text()));
    let encoded = entries("data").iter().filter(|entry| {
        let decoded = entry.node.text().and_then(decoded);
        // A placeholder for a value that is set later is not encoded.
        !entry.node.text().is_some_and(is_placeholder) && is_private(&entry.key, &entry.node, decoded.as_deref())
    });
    let private: Vec<&Entry> = plain.chain(encoded).collect();
    let Some(first) = private.first() else { return };
    let keys: Vec<String> = private.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let message = format!("{} contains {} in plain text", object.reference(), keys.join(", "));
    let help = "change the value, then encrypt the file with SOPS, seal it, or fetch it with External Secrets: a \
                committed value stays in the history";
    found.push(Finding::error(RULE.id, first.node.span().clone(), message).help(help).about(object.reference()));
}

/// The keys of Secrets whose values are not private.
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

/// The words that mark the value of a key as private, even if the value is only a number.
const PRIVATE_WORDS: [&str; 7] = ["pass", "token", "secret", "key", "pin", "auth", "cred"];

/// Returns whether a value of a Secret is private, as far as it is readable. `text` is the decoded value.
fn is_private(key: &str, node: &Node, text: Option<&str>) -> bool {
    if matches!(node.value, Value::Scalar(_, Style::Unknown)) {
        return false;
    }
    let is_identifier = is_identifier(key);
    let key = key.to_ascii_lowercase();
    // A value that is not text is binary. Without the extension of a certificate, it may be a key store.
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

/// Whether a key contains the identifier of a client, a tenant or a subscription. The identifiers of secrets and
/// sessions are private.
fn is_identifier(key: &str) -> bool {
    let ends = ["_ID", "_id", "-id", ".id", "Id"].iter().any(|end| key.ends_with(end));
    let ends =
        ends || key.strip_suffix("ID").is_some_and(|rest| rest.ends_with(|last: char| last.is_ascii_lowercase()));
    let key = key.to_ascii_lowercase();
    ends && !["secret", "session"].iter().any(|word| key.contains(word))
}

/// Returns whether a value is a number or a duration, such as a limit or a period.
fn is_setting(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < text.len() && matches!(unit, "" | "ms" | "s" | "m" | "h")
}

/// Returns whether a value is an address that contains a password.
fn signs_in(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    user.is_some_and(|(_, password)| !password.is_empty() && !is_placeholder(password))
}
