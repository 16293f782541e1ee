//! The appliers of a cluster in the later state, which decide the fate of former objects.

use std::collections::{BTreeMap, BTreeSet};

use super::received::Lists;
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, AppliedSet, Applier, ApplierKind, Receiver};
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::yaml::Node;

/// The appliers of a cluster in the later state.
pub(super) struct LaterAppliers<'a> {
    by_reference: BTreeMap<&'a ObjectRef, &'a Applier>,
    /// The Kustomizations that depend on each one, by `namespace/name`.
    dependents: BTreeMap<String, BTreeSet<&'a ObjectRef>>,
    /// The objects on the cluster with the Flux objects.
    sets: Vec<&'a AppliedSet>,
}

impl<'a> LaterAppliers<'a> {
    pub(super) fn of(receiver: &Receiver<'a>) -> Self {
        let cluster = receiver.cluster;
        let by_reference = cluster.appliers.iter().map(|applier| (&applier.reference, &**applier)).collect();
        let mut dependents: BTreeMap<String, BTreeSet<&'a ObjectRef>> = BTreeMap::new();
        for applier in &cluster.appliers {
            let Some(object) = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization) else {
                continue;
            };
            let own = object.namespace().unwrap_or_default();
            let list = object.node.at_keys(&["spec", "dependsOn"]);
            for item in list.into_iter().flat_map(Node::items) {
                let text = |key: &str| item.get(key).and_then(Node::text);
                let Some(name) = text("name") else { continue };
                let namespace = text("namespace").unwrap_or(own);
                dependents.entry(format!("{namespace}/{name}")).or_default().insert(&applier.reference);
            }
        }
        let sets = cluster.applied_sets.iter().filter(|set| set.by.target.is_none()).collect();
        Self { by_reference, dependents, sets }
    }

    /// The Kustomizations that depend on an applier.
    pub(super) fn dependents(&self, by: &Applier) -> impl Iterator<Item = &'a ObjectRef> {
        let is_kustomization = by.kind == ApplierKind::Kustomization;
        let name = format!("{}/{}", by.reference.namespace.as_deref().unwrap_or_default(), by.reference.name);
        self.dependents.get(&name).filter(|_| is_kustomization).into_iter().flatten().copied()
    }

    /// The suspended object that prevents a change of an object of an applier.
    pub(super) fn suspended(&self, by: &Applier, lists: &mut Lists) -> Option<ObjectRef> {
        let present = self.by_reference.get(&by.reference).copied().unwrap_or(by);
        if present.is_suspended() {
            return Some(present.reference.clone());
        }
        let source = present.source.as_ref()?;
        let objects = lists.applied(&ObjectKey::from(ObjectId::from(source)), &self.sets);
        let is_suspended = |applied: &&Applied<'_>| applied.object.text_at(&["spec", "suspend"]) == Some("true");
        objects.first().filter(is_suspended).map(|_| source.clone())
    }

    /// Returns whether Flux deletes an object that its applier does not apply any more.
    ///
    /// The controllers read the setting from the object on the cluster. It may be the earlier or the later one, since an
    /// applier may reconcile before its own object changes.
    pub(super) fn delete(&self, former: &Applied<'_>) -> bool {
        let (mut object, mut by): (&Object, &Applier) = (former.object, former.by);
        // The loop ends, since a parent applies the object of an applier.
        loop {
            if keeps(object) {
                return false;
            }
            if let Some(present) = self.by_reference.get(&by.reference) {
                return prunes(by) || prunes(present);
            }
            // The applier is removed too.
            match (&by.object, &by.parent_applier) {
                (Some(own), Some(parent)) if deletes_objects(by.kind, own) => (object, by) = (own, parent),
                (Some(_), Some(_)) => return false,
                _ => return prunes(by),
            }
        }
    }
}

/// Returns whether an annotation or label prevents the deletion of an object.
fn keeps(object: &Object) -> bool {
    let settings = ["kustomize.toolkit.fluxcd.io/prune", "fluxcd.controlplane.io/prune"];
    settings.into_iter().any(|setting| object.is_marked(setting, "disabled"))
}

/// Returns whether an applier deletes the objects that it does not apply any more.
fn prunes(applier: &Applier) -> bool {
    match applier.kind {
        ApplierKind::Kustomization => {
            applier.object.as_ref().is_none_or(|object| object.text_at(&["spec", "prune"]) == Some("true"))
        }
        ApplierKind::ResourceSet | ApplierKind::FluxInstance => true,
        ApplierKind::Bootstrap | ApplierKind::Folder => false,
    }
}

/// Returns whether the deletion of an applier deletes its objects.
fn deletes_objects(kind: ApplierKind, object: &Object) -> bool {
    match kind {
        ApplierKind::Kustomization => deletes_with(object),
        ApplierKind::ResourceSet | ApplierKind::FluxInstance => true,
        ApplierKind::Bootstrap | ApplierKind::Folder => false,
    }
}

/// Returns whether the deletion of a Kustomization deletes its objects.
pub(super) fn deletes_with(object: &Object) -> bool {
    let is_set = |field: &str, value: &str| object.text_at(&["spec", field]) == Some(value);
    match object.text_at(&["spec", "deletionPolicy"]) {
        _ if is_set("suspend", "true") => false,
        None | Some("MirrorPrune") => is_set("prune", "true"),
        Some(policy) => policy != "Orphan",
    }
}
