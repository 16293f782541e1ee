//! `commonMetadata`: labels and annotations that Flux sets on everything it applies, last of all.

use std::sync::Arc;

use super::synthetic_node::{entry, map};
use crate::kube::Object;
use crate::yaml::{By, Entry, Node, Origin, Step};

/// Sets the labels and annotations that an applier's `commonMetadata` says.
pub(crate) fn set_common_metadata(object: &mut Object, applier: &Object) {
    let Some(said) = applier.node.at_keys(&["spec", "commonMetadata"]) else { return };
    for field in ["labels", "annotations"] {
        for wanted in said.get(field).map_or(&[][..], Node::entries) {
            object.node = set(&object.node, field, wanted);
        }
    }
}

fn set(object: &Node, field: &str, wanted: &Entry) -> Node {
    let place = wanted.node.span();
    let metadata = object.entry("metadata").cloned().unwrap_or_else(|| entry("metadata", map(Vec::new(), place)));
    let values = metadata.node.entry(field).filter(|values| values.node.is_map()).cloned();
    let values = values.unwrap_or_else(|| entry(field, map(Vec::new(), place)));
    let value = if let Some(old) = values.node.entry(&wanted.key) {
        old.with_node(old.node.changed(wanted.node.value.clone(), By::Applier(place.clone())))
    } else {
        let step = Step::new(By::Applier(place.clone()), None, Box::default());
        let node = Node { value: wanted.node.value.clone(), origin: Origin::Via(Arc::new(step)) };
        // A key's file is that of its value, which may be another one than the key was written in.
        let key = Some(wanted.key_span()).filter(|key| key.file() == place.file());
        Entry::new(wanted.key.clone(), key.as_ref().unwrap_or(place), node)
    };
    let values = values.with_node(values.node.with(value));
    object.with(metadata.with_node(metadata.node.with(values)))
}
