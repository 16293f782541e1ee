//! The dependencies of Flux objects, from `dependsOn`.

use crate::base::finding::ObjectRef;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::{flag, text_of};
use crate::yaml::Node;

/// The kinds that have the field `dependsOn`.
pub(crate) const DEPENDENTS: [(&str, &str); 3] =
    [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease"), (groups::FLUX_OPERATOR, "ResourceSet")];

/// The instruction to depend on an object, with words for the object and its user.
///
/// Only a ResourceSet can depend on objects of other kinds. A Kustomization can wait for the objects that it applies.
pub(crate) fn add_dependency(provider: &ObjectRef, named: &str, user: &ObjectRef, user_named: &str) -> String {
    if provider.kind == user.kind || &*user.kind == "ResourceSet" {
        return format!("add {named} to `dependsOn` of {user_named}");
    }
    let (kind, own) = (&user.kind, &provider.kind);
    format!(
        "apply {named} with a {kind} of its own with `wait: true`, and add that {kind} to `dependsOn` of {user_named}, since \
         a {kind} cannot depend on a {own}"
    )
}

/// An item of `dependsOn`.
pub(crate) struct Dependency<'a> {
    /// The whole item.
    pub(crate) item: &'a Node,
    /// The node to show: the name, or the whole item if it has no name.
    pub(crate) node: &'a Node,
    /// The object that the dependent waits for.
    pub(crate) target: ObjectId<'a>,
    /// The state that the target must have.
    pub(crate) condition: Condition,
}

/// The state of a dependency that an object waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The target exists. A ResourceSet waits for this state, unless it sets `ready: true`.
    Exists,
    /// The target is ready, as Flux defines it.
    Ready,
    /// The expression in `readyExpr` is true.
    Expression,
}

/// The dependencies of an object.
///
/// In a Kustomization or HelmRelease without a namespace, a dependency without a namespace is unknown, so it is not
/// included.
///
/// A ResourceSet may wait for objects of any kind. Flux Operator does not default the namespace of an item.
pub(crate) fn dependencies(object: &Object) -> impl Iterator<Item = Dependency<'_>> {
    let (group, kind) = (object.group(), object.kind());
    let has_dependencies = DEPENDENTS.contains(&(group, kind));
    let list = object.node.at_keys(&["spec", "dependsOn"]).filter(|_| has_dependencies).map(Node::items);
    let namespace = object.namespace();
    list.unwrap_or_default().iter().filter_map(move |item| {
        let name = text_of(item, "name")?;
        let (target, checks_state) = if group == groups::FLUX_OPERATOR {
            let group = text_of(item, "apiVersion")?.split_once('/').map_or("", |(group, _)| group);
            let namespace = text_of(item, "namespace").unwrap_or_default();
            let is_ready_set = item.get("ready").and_then(flag) == Some(true);
            (ObjectId { group, kind: text_of(item, "kind")?, namespace, name }, is_ready_set)
        } else {
            (ObjectId { group, kind, namespace: text_of(item, "namespace").or(namespace)?, name }, true)
        };
        let condition = match (checks_state, text_of(item, "readyExpr")) {
            (false, _) => Condition::Exists,
            (true, None) => Condition::Ready,
            (true, Some(_)) => Condition::Expression,
        };
        Some(Dependency { item, node: item.get("name").unwrap_or(item), target, condition })
    })
}
