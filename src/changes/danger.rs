//! The dangers of a change.

use super::immutable::is_immutable;
use super::model::{Danger, FieldChange};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::{Object, groups};

/// The dangers of an addition.
pub(super) fn of_addition(applied: &Applied<'_>) -> Vec<Danger> {
    if grants_rights(applied.object) { vec![Danger::Rights] } else { Vec::new() }
}

/// The dangers of a removal.
pub(super) fn of_removal(former: &Applied<'_>) -> Vec<Danger> {
    let mut dangers = vec![removal(former)];
    dangers.extend(grants_rights(former.object).then_some(Danger::Rights));
    dangers
}

/// The dangers of a change of fields, or of a move to another applier.
pub(super) fn of_change(former: &Applied<'_>, applied: &Applied<'_>, fields: &[FieldChange]) -> Vec<Danger> {
    let mut dangers: Vec<Danger> = Vec::new();
    if former.by.reference != applied.by.reference && prunes(former.by) {
        dangers.push(Danger::Moved);
    }
    let immutable = fields.iter().find(|change| is_immutable(former.object, &change.field));
    dangers.extend(immutable.map(|change| Danger::Immutable(change.field.clone())));
    if grants_rights(applied.object) && fields.iter().any(|change| !change.field.starts_with("metadata")) {
        dangers.push(Danger::Rights);
    }
    let is_suspended = |object: &Object| object.text_at(&["spec", "suspend"]) == Some("true");
    if groups::is_toolkit(applied.object.group()) && is_suspended(applied.object) && !is_suspended(former.object) {
        dangers.push(Danger::Suspended);
    }
    dangers
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

fn removal(former: &Applied<'_>) -> Danger {
    let keeps = |key: &str| {
        let value = |field: &str| former.object.text_at(&["metadata", field, key]);
        ["labels", "annotations"].into_iter().filter_map(value).any(|value| value.eq_ignore_ascii_case("disabled"))
    };
    if former.by.kind == ApplierKind::Folder {
        return Danger::Unapplied;
    }
    if !prunes(former.by) || keeps("kustomize.toolkit.fluxcd.io/prune") {
        return Danger::Orphaned;
    }
    let object = former.object;
    Danger::Pruned(match (object.group(), object.kind()) {
        ("", "Namespace") => "Kubernetes deletes all objects in the namespace",
        ("", "PersistentVolumeClaim" | "PersistentVolume") => "the data of the volume may be lost",
        ("apps", "StatefulSet") => "its Pods stop",
        ("apiextensions.k8s.io", "CustomResourceDefinition") => "Kubernetes deletes all objects of the kind",
        (groups::KUSTOMIZE, "Kustomization") if deletes_with(object) => {
            "with `prune`, Flux deletes all its objects too"
        }
        (groups::HELM, "HelmRelease") => "Flux uninstalls the chart",
        _ => "",
    })
}

/// Returns whether the deletion of a Kustomization deletes its objects.
fn deletes_with(object: &Object) -> bool {
    let is_set = |field: &str, value: &str| object.text_at(&["spec", field]) == Some(value);
    match object.text_at(&["spec", "deletionPolicy"]) {
        _ if is_set("suspend", "true") => false,
        None | Some("MirrorPrune") => is_set("prune", "true"),
        Some(policy) => policy != "Orphan",
    }
}

fn grants_rights(object: &Object) -> bool {
    object.group() == groups::RBAC
}
