//! Consequences of a change that follow from its applier.

use std::collections::BTreeMap;

use crate::flux::{Applier, ApplierKind, Receiver};
use crate::yaml::Node;

/// The Kustomizations of a cluster that depend on others.
pub(super) struct Dependents(BTreeMap<String, Vec<String>>);

impl Dependents {
    pub(super) fn of(receiver: &Receiver<'_>) -> Self {
        let mut dependents: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for applier in &receiver.cluster.appliers {
            let Some(object) = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization) else {
                continue;
            };
            let own = object.namespace().unwrap_or_default();
            let list = object.node.at_keys(&["spec", "dependsOn"]);
            for item in list.into_iter().flat_map(Node::items) {
                let text = |key: &str| item.get(key).and_then(Node::text);
                let Some(name) = text("name") else { continue };
                let namespace = text("namespace").unwrap_or(own);
                dependents.entry(format!("{namespace}/{name}")).or_default().push(applier.reference.to_string());
            }
        }
        Self(dependents)
    }

    /// The consequences of a change of an object of an applier.
    pub(super) fn notes(&self, by: &Applier) -> Vec<String> {
        let mut notes = Vec::new();
        if by.is_suspended() {
            notes.push(format!("{} is suspended: the change has no effect until it is resumed", by.reference));
        }
        if by.kind == ApplierKind::Kustomization {
            let name = format!("{}/{}", by.reference.namespace.as_deref().unwrap_or_default(), by.reference.name);
            let waiting = self.0.get(&name).map_or(&[][..], Vec::as_slice);
            if let Some(first) = waiting.first() {
                let more = if waiting.len() > 1 { format!(" and {} more", waiting.len() - 1) } else { String::new() };
                notes.push(format!("{first}{more} depends on {}", by.reference));
            }
        }
        notes
    }
}
