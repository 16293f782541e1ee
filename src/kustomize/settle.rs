//! The last step of a build: annotations that kustomize uses itself go, and all others are strings.

use super::read::is_string;
use crate::yaml::{Entry, Node, Style, Value};

/// Annotations that kustomize keeps its books with. It drops them, whoever wrote them.
const OWN: &[&str] = &[
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/helm-generated",
];

/// Writes the annotations of an object as kustomize does at the end.
pub(super) fn settle(node: &Node) -> Node {
    let Some(metadata) = node.get("metadata").filter(|metadata| metadata.is_map()) else { return node.clone() };
    let Some(entry) = metadata.entry("annotations") else { return node.clone() };
    let is_settled = |entry: &Entry| is_string(&entry.node) && !OWN.contains(&&*entry.key);
    if !entry.node.entries().is_empty() && entry.node.entries().iter().all(is_settled) {
        return node.clone();
    }
    let kept = entry.node.entries().iter().filter(|entry| !OWN.contains(&&*entry.key));
    let kept: Vec<Entry> = kept.map(|entry| entry.with_node(as_string(&entry.node))).collect();
    let metadata = if kept.is_empty() {
        metadata.without("annotations")
    } else {
        let annotations = Node { value: Value::Map(kept.into()), origin: entry.node.origin.clone() };
        metadata.with(entry.with_node(annotations))
    };
    match node.entry("metadata") {
        Some(entry) => node.with(entry.with_node(metadata)),
        None => node.clone(),
    }
}

/// The string that kustomize makes of a value: its text, which collections and nulls do not have.
fn as_string(node: &Node) -> Node {
    if is_string(node) {
        return node.clone();
    }
    let text = if node.is_null() { "" } else { node.text().unwrap_or_default() };
    Node { value: Value::Scalar(text.into(), Style::Double), origin: node.origin.clone() }
}
