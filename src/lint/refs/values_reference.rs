//! The `ConfigMap`s and `Secret`s that Flux objects take values from.

use super::wanted::{Wanted, said};
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::facts::duration_fields::flag;
use crate::yaml::Node;

/// An object that another one takes values from.
pub(crate) struct ValuesReference<'a> {
    /// The reference.
    pub(crate) node: &'a Node,
    pub(crate) wanted: Wanted<'a>,
    /// Whether it may be absent.
    pub(crate) optional: bool,
}

/// What a HelmRelease or a Kustomization takes values from; of an object without namespace that is not known.
pub(crate) fn values_of(object: &Object) -> impl Iterator<Item = ValuesReference<'_>> {
    let list = match (object.group(), object.kind()) {
        (groups::HELM, "HelmRelease") => object.node.at_keys(&["spec", "valuesFrom"]),
        (groups::KUSTOMIZE, "Kustomization") => object.node.at_keys(&["spec", "postBuild", "substituteFrom"]),
        _ => None,
    };
    let namespace = object.namespace();
    list.map(Node::items).unwrap_or_default().iter().filter_map(move |item| {
        let kind = said(item, "kind").filter(|kind| matches!(*kind, "ConfigMap" | "Secret"))?;
        let wanted = Wanted { group: "", kind, namespace: namespace?, name: said(item, "name")? };
        // What is said and not known may be true.
        let optional = item.get("optional").is_some_and(|node| !node.is_null() && flag(node) != Some(false));
        Some(ValuesReference { node: item.get("name").unwrap_or(item), wanted, optional })
    })
}
