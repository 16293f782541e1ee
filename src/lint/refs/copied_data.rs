//! The annotations with which a ResourceSet copies data from another object.

use super::reference::Reference;
use crate::flux::{CONVERT_FROM, COPY_FROM};
use crate::kube::{Object, ObjectId};
use crate::yaml::Node;

/// The value of an annotation that copies data.
pub(crate) enum CopiedData<'a> {
    /// A reference to the object with the data.
    From(Reference<'a>),
    /// A value that is not `namespace/name`.
    Invalid(&'a Node),
}

/// The sources of the data that a ResourceSet copies to an object.
///
/// Source: `internal/controller/resourceset_controller_configs.go` of Flux Operator.
pub(crate) fn copied_data(object: &Object) -> impl Iterator<Item = CopiedData<'_>> {
    let annotations = object.node.at_keys(&["metadata", "annotations"]);
    let annotations =
        annotations.filter(|_| matches!((object.api_version(), object.kind()), ("v1", "ConfigMap" | "Secret")));
    let at = |key: &str| annotations?.get(key);
    let copied = at(COPY_FROM).map(|node| (node, object.kind(), node.text()));
    let converted = at(CONVERT_FROM).filter(|_| object.kind() == "ConfigMap");
    let converted = converted.map(|node| (node, "Secret", node.text().map(without_key)));
    copied.into_iter().chain(converted).map(|(node, kind, text)| match text.and_then(|text| text.split_once('/')) {
        Some((namespace, name)) if !name.contains('/') => {
            CopiedData::From(Reference { node, target: ObjectId { group: "", kind, namespace, name } })
        }
        _ => CopiedData::Invalid(node),
    })
}

/// The part of `namespace/name:key` before the key.
fn without_key(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((name, _)) if name.contains('/') => name,
        _ => text,
    }
}
