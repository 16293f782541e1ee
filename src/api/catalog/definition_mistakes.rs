//! Parts of a `CustomResourceDefinition` outside of its schemas that the API server rejects.
//!
//! Source: `ValidateCustomResourceDefinition` of `k8s.io/apiextensions-apiserver`.

use crate::api::schema::Mistake;
use crate::kube::{Object, has_encrypted_value};
use crate::yaml::{Node, Reader, Scalar};

/// The path of a field, and the mistake in it.
pub type DefinitionMistake = (&'static str, Mistake);

/// The parts of a definition that the API server rejects: names, storage and conversion.
pub fn definition_mistakes(object: &Object) -> Vec<DefinitionMistake> {
    let Some(spec) = object.node.get("spec").filter(|spec| !has_encrypted_value(spec)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |path: &'static str, node: &Node, message: String| {
        found.push((path, Mistake { at: node.span().clone(), message }));
    };
    let text = |keys: &[&str]| spec.at_keys(keys).and_then(known);
    if let (Some(group), Some(plural), Some(name)) =
        (text(&["group"]), text(&["names", "plural"]), object.node.at_keys(&["metadata", "name"]))
        && known(name).is_some_and(|name| name != format!("{plural}.{group}"))
    {
        add("metadata.name", name, format!("must be `{plural}.{group}`, the plural and the group"));
    }
    let is_true = |node: &Node| node.resolve(Reader::Kustomize) == Some(Scalar::Bool(true));
    if let Some(versions) = spec.get("versions").filter(|versions| !versions.items().is_empty()) {
        let stored: Vec<&Node> = versions.items().iter().filter_map(|version| version.get("storage")).collect();
        match stored.iter().filter(|storage| is_true(storage)).count() {
            1 => {}
            0 => add("spec.versions", versions, "has no version with `storage: true`; exactly one must have it".into()),
            _ => {
                if let Some(second) = stored.iter().filter(|storage| is_true(storage)).nth(1) {
                    add(
                        "spec.versions",
                        second,
                        "has several versions with `storage: true`; exactly one must have it".into(),
                    );
                }
            }
        }
        let names: Vec<&Node> = versions.items().iter().filter_map(|version| version.get("name")).collect();
        for (at, name) in names.iter().enumerate() {
            if names.iter().take(at).any(|earlier| known(earlier).is_some() && known(earlier) == known(name)) {
                add("spec.versions", name, "has two versions with this name".into());
            }
        }
    }
    if let Some(field) = spec.get("preserveUnknownFields").filter(|field| is_true(field)) {
        add(
            "spec.preserveUnknownFields",
            field,
            "must be false; set `x-kubernetes-preserve-unknown-fields` in the schema".into(),
        );
    }
    if let Some(conversion) = spec.get("conversion").filter(|conversion| conversion.is_map()) {
        let strategy = conversion.get("strategy");
        let webhook = conversion.get("webhook").filter(|webhook| !webhook.is_null());
        match (strategy.and_then(known), webhook) {
            (Some("Webhook"), None) => {
                add("spec.conversion", conversion, "has no `webhook`, which strategy `Webhook` requires".into());
            }
            (Some("Webhook"), Some(webhook)) => {
                for field in ["clientConfig", "conversionReviewVersions"] {
                    let value = webhook.get(field).filter(|value| !value.is_null());
                    if value.is_none_or(|value| field == "conversionReviewVersions" && value.items().is_empty()) {
                        add("spec.conversion.webhook", webhook, format!("has no `{field}`"));
                    }
                }
            }
            (Some("None"), Some(webhook)) => {
                add("spec.conversion.webhook", webhook, "is only possible with strategy `Webhook`".into());
            }
            _ => {}
        }
    }
    found
}

fn known(node: &Node) -> Option<&str> {
    node.text().filter(|_| !matches!(node.value, crate::yaml::Value::Scalar(_, crate::yaml::Style::Unknown)))
}
