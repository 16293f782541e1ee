//! The dependencies of Flux objects, from `dependsOn`.

use crate::kube::Object;
use crate::kube::ObjectId;
use crate::kube::groups;
use crate::lint::fields::flag;
use crate::lint::fields::text_of;
use crate::yaml::Node;

/// The kinds with `dependsOn`.
pub(crate) const DEPENDENTS: [(&str, &str); 3] =
    [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease"), (groups::FLUX_OPERATOR, "ResourceSet")];

/// An item of `dependsOn`.
pub(crate) struct Dependency<'a> {
    /// The node to show: the name, or the whole item.
    pub(crate) node: &'a Node,
    /// The object that must come first.
    pub(crate) target: ObjectId<'a>,
    /// Whether the target must be ready by Flux's own definition. With `readyExpr`, the expression decides. A ResourceSet
    /// only waits until the target exists, unless it sets `ready: true`.
    pub(crate) is_ready_needed: bool,
}

/// The dependencies of an object; none for a Kustomization or HelmRelease without a namespace, as they are not known.
///
/// A ResourceSet may wait for objects of any kind. Flux Operator does not default the namespace of an item.
pub(crate) fn dependencies(object: &Object) -> impl Iterator<Item = Dependency<'_>> {
    let (group, kind) = (object.group(), object.kind());
    let waits = DEPENDENTS.contains(&(group, kind));
    let list = object.node.at_keys(&["spec", "dependsOn"]).filter(|_| waits).map(Node::items);
    let namespace = object.namespace();
    list.unwrap_or_default().iter().filter_map(move |item| {
        let has_expression = text_of(item, "readyExpr").is_some();
        let name = text_of(item, "name")?;
        let (target, needs_ready) = if group == groups::FLUX_OPERATOR {
            let group = text_of(item, "apiVersion")?.split_once('/').map_or("", |(group, _)| group);
            let namespace = text_of(item, "namespace").unwrap_or_default();
            let needs_ready = item.get("ready").and_then(flag) == Some(true);
            (ObjectId { group, kind: text_of(item, "kind")?, namespace, name }, needs_ready)
        } else {
            (ObjectId { group, kind, namespace: text_of(item, "namespace").or(namespace)?, name }, true)
        };
        let node = item.get("name").unwrap_or(item);
        Some(Dependency { node, target, is_ready_needed: needs_ready && !has_expression })
    })
}
