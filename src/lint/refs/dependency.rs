//! What objects wait for, as their `dependsOn` says.

use super::wanted::{Wanted, said};
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::facts::duration_fields::flag;
use crate::yaml::Node;

/// The kinds that wait for others.
pub(crate) const DEPENDENTS: [(&str, &str); 3] =
    [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease"), (groups::FLUX_OPERATOR, "ResourceSet")];

/// An item of `dependsOn`.
pub(crate) struct Dependency<'a> {
    /// The place to show.
    pub(crate) node: &'a Node,
    pub(crate) wanted: Wanted<'a>,
    /// Whether it has to be ready as Flux sees it: an expression says something else, and a ResourceSet asks only whether
    /// it exists unless it says `ready: true`.
    pub(crate) is_ready_needed: bool,
}

/// What an object waits for; of an object without namespace that is not known.
///
/// A ResourceSet waits for objects of any kind, and its operator does not add the namespace that an item leaves out.
pub(crate) fn dependencies(object: &Object) -> impl Iterator<Item = Dependency<'_>> {
    let (group, kind) = (object.group(), object.kind());
    let waits = DEPENDENTS.contains(&(group, kind));
    let list = object.node.at_keys(&["spec", "dependsOn"]).filter(|_| waits).map(Node::items);
    let namespace = object.namespace();
    list.unwrap_or_default().iter().filter_map(move |item| {
        let has_expression = said(item, "readyExpr").is_some();
        let name = said(item, "name")?;
        let (wanted, is_asked) = if group == groups::FLUX_OPERATOR {
            let group = said(item, "apiVersion")?.split_once('/').map_or("", |(group, _)| group);
            let namespace = said(item, "namespace").unwrap_or_default();
            let is_asked = item.get("ready").and_then(flag) == Some(true);
            (Wanted { group, kind: said(item, "kind")?, namespace, name }, is_asked)
        } else {
            (Wanted { group, kind, namespace: said(item, "namespace").or(namespace)?, name }, true)
        };
        let node = item.get("name").unwrap_or(item);
        Some(Dependency { node, wanted, is_ready_needed: is_asked && !has_expression })
    })
}
