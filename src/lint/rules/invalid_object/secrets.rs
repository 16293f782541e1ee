//! The keys that the types of Secrets require.

use super::fault::{Fault, field, is_unknown, text};
use crate::kube::{Object, groups};
use crate::lint::fields::known_text;
use crate::yaml::{Entry, Node};

/// The annotation that a Secret with the token of an account requires.
const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Checks that a Secret has the keys that its type requires.
///
/// Source: `ValidateSecret` of `k8s.io/kubernetes/pkg/apis/core/validation`.
pub(super) fn secret(object: &Object, faults: &mut Vec<Fault>) {
    let (Some(kind), Some(node)) = (text(&object.node, "type"), field(&object.node, "type")) else { return };
    let fields = ["data", "stringData"].map(|key| field(&object.node, key));
    // Flux Operator copies the data of another Secret.
    let annotations = object.node.at_keys(&["metadata", "annotations"]).map_or(&[][..], Node::entries);
    if annotations.iter().any(|entry| entry.key.starts_with(groups::FLUX_OPERATOR)) {
        return;
    }
    // SOPS encrypts no keys, but a variable may contain several entries.
    let is_open = |node: &&Node| !node.is_map() || node.entries().iter().any(|entry| entry.key.contains("${"));
    if fields.iter().flatten().any(is_open) {
        return;
    }
    let has = |key: &str| fields.iter().flatten().any(|node| node.get(key).is_some());
    let (required, any): (&[&str], &[&str]) = match kind {
        "kubernetes.io/tls" => (&["tls.crt", "tls.key"], &[]),
        "kubernetes.io/dockerconfigjson" => (&[".dockerconfigjson"], &[]),
        "kubernetes.io/dockercfg" => (&[".dockercfg"], &[]),
        "kubernetes.io/ssh-auth" => (&["ssh-privatekey"], &[]),
        "kubernetes.io/basic-auth" => (&[], &["username", "password"]),
        "kubernetes.io/service-account-token" => {
            let annotations = object.node.at_keys(&["metadata", "annotations"]);
            let is_missing = annotations.is_none_or(|all| !is_unknown(all) && all.get(ACCOUNT).is_none());
            if is_missing {
                let message = format!("has the type `{kind}`, but no annotation `{ACCOUNT}`");
                faults.push(Fault::new(node, message, "add the annotation with the name of the service account"));
            }
            return;
        }
        _ => return,
    };
    if kind == "kubernetes.io/dockerconfigjson" {
        let text = object.node.at_keys(&["stringData", ".dockerconfigjson"]);
        let known = text.and_then(|node| Some((node, known_text(node)?))).filter(|(_, text)| !text.starts_with("ENC["));
        let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if let Some((node, _)) = known.filter(|(_, text)| !is_json(text)) {
            faults.push(Fault::new(node, "has a `.dockerconfigjson` that is no JSON", "correct the text"));
        }
    }
    if let Some(key) = required.iter().find(|key| !has(key)) {
        let message = format!("has the type `{kind}`, but no key `{key}`");
        faults.push(Fault::new(node, message, "add the key, or write `type: Opaque`"));
    } else if !any.is_empty() && !any.iter().any(|key| has(key)) {
        let message = format!("has the type `{kind}`, but neither of the keys `{}`", any.join("` and `"));
        faults.push(Fault::new(node, message, "add one of the keys, or write `type: Opaque`"));
    }
}

/// Checks that no key of a ConfigMap is in `data` and in `binaryData`.
pub(super) fn keys_of_config_map(object: &Object, faults: &mut Vec<Fault>) {
    let (Some(data), Some(binary)) = (field(&object.node, "data"), field(&object.node, "binaryData")) else { return };
    let is_in_data = |entry: &&Entry| data.get(&entry.key).is_some();
    for entry in binary.entries().iter().filter(is_in_data) {
        let message = format!("has the key `{}` in `data` and in `binaryData`", entry.key);
        faults.push(Fault { at: entry.key_span(), message, remedy: "remove one of them".to_owned() });
    }
}
