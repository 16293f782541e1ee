//! The objects in `healthChecks` of a Kustomization.

use super::reference::Reference;
use crate::kube::{Object, ObjectId, groups};
use crate::lint::fields::{flag, text_of};
use crate::yaml::Node;

/// The objects in `healthChecks` that a Kustomization waits for; none with `wait: true`, which disables the field.
pub(crate) fn health_checks(object: &Object) -> impl Iterator<Item = Reference<'_>> {
    let spec = object.node.get("spec").filter(|_| object.is(groups::KUSTOMIZE, "Kustomization"));
    let spec = spec.filter(|spec| spec.get("wait").is_none_or(|wait| flag(wait) == Some(false)));
    let list = spec.and_then(|spec| spec.get("healthChecks"));
    list.map_or(&[][..], Node::items).iter().filter_map(|item| {
        // Source: `ReferenceToObjMetadataSet` of kustomize-controller, which defaults the version to `apps/v1`.
        let version = text_of(item, "apiVersion").unwrap_or("apps/v1");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let namespace = text_of(item, "namespace").unwrap_or_default();
        let target = ObjectId { group, kind: text_of(item, "kind")?, namespace, name: text_of(item, "name")? };
        // A Kustomization does not wait for itself.
        let is_itself = target == ObjectId::of(object);
        (!is_itself).then(|| Reference { node: item.get("name").unwrap_or(item), target })
    })
}
