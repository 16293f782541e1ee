//! `commonMetadata`: labels and annotations that Flux sets on all objects of an applier, after all other changes.

use std::sync::Arc;

use super::synthetic_node::{entry, map};
use crate::kube::Object;
use crate::text::{Index, Span};
use crate::yaml::{ChangedBy, Entry, Name, Node, Origin, Value, ValueChange};

/// Sets the labels and annotations of an applier's `commonMetadata`. Returns the number of values that this copies.
pub(crate) fn set_common_metadata(object: &mut Object, applier: &Object) -> usize {
    let Some(said) = applier.node.at_keys(&["spec", "commonMetadata"]) else { return 0 };
    let mut copied = 0;
    for field in ["labels", "annotations"] {
        let wanted = said.get(field).map_or(&[][..], Node::entries);
        if let Some(first) = wanted.first() {
            object.node = set(&object.node, field, wanted, first.node.span(), &mut copied);
        }
    }
    copied
}

fn set(object: &Node, field: &str, wanted: &[Entry], place: &Span, copied: &mut usize) -> Node {
    let metadata = object.entry("metadata").cloned().unwrap_or_else(|| entry("metadata", map(Vec::new(), place)));
    let values = metadata.node.entry(field).filter(|values| values.node.is_map()).cloned();
    let values = values.unwrap_or_else(|| entry(field, map(Vec::new(), place)));
    let mut entries: Vec<Entry> = values.node.entries().to_vec();
    let mut known: Index<Name, usize> = Index::default();
    for (at, one) in entries.iter().enumerate() {
        known.entry_or(one.key.clone(), || at);
    }
    for wanted in wanted {
        if let Some(old) = known.get(&wanted.key).and_then(|at| entries.get_mut(*at)) {
            *old = changed(old, wanted);
        } else {
            known.insert(wanted.key.clone(), entries.len());
            entries.push(added(wanted));
        }
    }
    *copied += entries.len();
    let values = values.with_node(Node { value: Value::Map(entries.into()), origin: values.node.origin.clone() });
    object.with(metadata.with_node(metadata.node.with(values)))
}

fn changed(old: &Entry, wanted: &Entry) -> Entry {
    let change = ChangedBy::Applier(wanted.node.span().clone());
    old.with_node(old.node.changed(wanted.node.value.clone(), change))
}

fn added(wanted: &Entry) -> Entry {
    let place = wanted.node.span();
    let step = ValueChange::new(ChangedBy::Applier(place.clone()), None, Box::default());
    let node = Node { value: wanted.node.value.clone(), origin: Origin::Via(Arc::new(step)) };
    // The place of a key must be in the file of its value.
    let key = Some(wanted.key_span()).filter(|key| key.file() == place.file());
    Entry::new(wanted.key.clone(), key.as_ref().unwrap_or(place), node)
}
