//! The `ConfigMap` and `Secret` objects from which Flux objects read values.

use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::{flag, text_of};
use crate::yaml::Node;

/// The key that a HelmRelease reads by default.
const DEFAULT_KEY: &str = "values.yaml";

/// A reference to an object with values.
pub(crate) struct ValuesReference<'a> {
    /// The node to show: the name, or the whole reference if it has no name.
    pub(crate) node: &'a Node,
    /// The ConfigMap or Secret.
    pub(crate) target: ObjectId<'a>,
    /// The key that a HelmRelease reads; `None` for a Kustomization.
    pub(crate) key: Option<&'a str>,
    /// The field that sets the key.
    pub(crate) key_node: Option<&'a Node>,
    /// Whether the object may be missing.
    pub(crate) optional: bool,
}

/// The objects from which a HelmRelease or Kustomization reads values; none for an object without a namespace.
pub(crate) fn values_of(object: &Object) -> impl Iterator<Item = ValuesReference<'_>> {
    let list = match (object.group(), object.kind()) {
        (groups::HELM, "HelmRelease") => object.node.at_keys(&["spec", "valuesFrom"]),
        (groups::KUSTOMIZE, "Kustomization") => object.node.at_keys(&["spec", "postBuild", "substituteFrom"]),
        _ => None,
    };
    let (namespace, is_release) = (object.namespace(), object.group() == groups::HELM);
    list.map(Node::items).unwrap_or_default().iter().filter_map(move |item| {
        let kind = text_of(item, "kind").filter(|kind| matches!(*kind, "ConfigMap" | "Secret"))?;
        let target = ObjectId { group: "", kind, namespace: namespace?, name: text_of(item, "name")? };
        // A value that is not a boolean may be true.
        let optional = item.get("optional").is_some_and(|node| !node.is_null() && flag(node) != Some(false));
        let key_node = item.get("valuesKey").filter(|_| is_release);
        let key = key_node.and_then(Node::text).filter(|key| !key.is_empty());
        let key = key.or(is_release.then_some(DEFAULT_KEY));
        Some(ValuesReference { node: item.get("name").unwrap_or(item), target, key, key_node, optional })
    })
}
