//! The `ConfigMap` and `Secret` objects that Flux objects read values from.

use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::{flag, text_of};
use crate::yaml::Node;

/// A reference to an object with values.
pub(crate) struct ValuesReference<'a> {
    /// The node to show: the name, or the whole reference.
    pub(crate) node: &'a Node,
    /// The ConfigMap or Secret.
    pub(crate) target: ObjectId<'a>,
    /// Whether the object may be missing.
    pub(crate) optional: bool,
}

/// The objects that a HelmRelease or Kustomization reads values from; none for an object without a namespace.
pub(crate) fn values_of(object: &Object) -> impl Iterator<Item = ValuesReference<'_>> {
    let list = match (object.group(), object.kind()) {
        (groups::HELM, "HelmRelease") => object.node.at_keys(&["spec", "valuesFrom"]),
        (groups::KUSTOMIZE, "Kustomization") => object.node.at_keys(&["spec", "postBuild", "substituteFrom"]),
        _ => None,
    };
    let namespace = object.namespace();
    list.map(Node::items).unwrap_or_default().iter().filter_map(move |item| {
        let kind = text_of(item, "kind").filter(|kind| matches!(*kind, "ConfigMap" | "Secret"))?;
        let target = ObjectId { group: "", kind, namespace: namespace?, name: text_of(item, "name")? };
        // An unknown value may be true.
        let optional = item.get("optional").is_some_and(|node| !node.is_null() && flag(node) != Some(false));
        Some(ValuesReference { node: item.get("name").unwrap_or(item), target, optional })
    })
}
