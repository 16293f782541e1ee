//! The dangers of a change.

use super::appliers::{LaterAppliers, deletes_with};
use super::immutable::is_immutable;
use super::model::{Danger, FieldChange};
use super::received::Pair;
use crate::address::Address;
use crate::flux::{Applied, ApplierKind, ApplyMode};
use crate::kube::{Object, groups};

/// The dangers of an addition.
pub(super) fn of_addition(pair: &Pair<'_>, applied: &Applied<'_>) -> Vec<Danger> {
    if grants_rights(applied.object) && pair.other.is_none() { vec![Danger::Rights] } else { Vec::new() }
}

/// The dangers of a removal.
pub(super) fn of_removal(pair: &Pair<'_>, former: &Applied<'_>, later: &LaterAppliers<'_>) -> Vec<Danger> {
    if let Some(other) = pair.other {
        let is_deleted = later.delete(former);
        return is_deleted.then(|| Danger::Shared(other.clone())).into_iter().collect();
    }
    let mut dangers = vec![removal(former, later)];
    dangers.extend(grants_rights(former.object).then_some(Danger::Rights));
    dangers
}

/// The dangers of a change of fields, or of a move to another applier.
pub(super) fn of_change(
    former: &Applied<'_>,
    applied: &Applied<'_>,
    fields: &[FieldChange],
    later: &LaterAppliers<'_>,
) -> Vec<Danger> {
    let mut dangers: Vec<Danger> = Vec::new();
    if former.by.reference != applied.by.reference && later.delete(former) {
        dangers.push(Danger::Moved);
    }
    if applied.apply_mode() == ApplyMode::Ignored {
        dangers.push(Danger::Ignored);
        return dangers;
    }
    let immutable = fields.iter().find(|change| is_immutable(former.object, &change.field));
    let of_field = if is_forced(applied) { Danger::Replaced } else { Danger::Immutable };
    dangers.extend(immutable.map(|change| of_field(change.field.clone())));
    if grants_rights(applied.object) && fields.iter().any(|change| !change.field.starts_with("metadata")) {
        dangers.push(Danger::Rights);
    }
    let is_changed = |field: &str| fields.iter().any(|change| change.field == field);
    if (groups::is_toolkit(applied.object.group()) || applied.object.group() == groups::FLUX_OPERATOR)
        && is_changed("spec.serviceAccountName")
    {
        dangers.push(Danger::Account);
    }
    if address(applied.object) != address(former.object) {
        dangers.push(Danger::Source);
    }
    if applied.object.is(groups::HELM, "HelmRelease") && release(applied.object) != release(former.object) {
        dangers.push(Danger::Reinstalled);
    }
    let is_suspended = |object: &Object| object.text_at(&["spec", "suspend"]) == Some("true");
    if groups::is_toolkit(applied.object.group()) && is_suspended(applied.object) && !is_suspended(former.object) {
        dangers.push(Danger::Suspended);
    }
    dangers
}

fn removal(former: &Applied<'_>, later: &LaterAppliers<'_>) -> Danger {
    if former.by.kind == ApplierKind::Folder {
        return Danger::Unapplied;
    }
    if !later.delete(former) {
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

/// Returns whether the applier replaces an object whose change the API server rejects.
fn is_forced(applied: &Applied<'_>) -> bool {
    let is_enabled = |key: &str| applied.object.is_marked(key, "enabled");
    let by_applier = applied.by.object.as_ref().is_some_and(|by| by.text_at(&["spec", "force"]) == Some("true"));
    match applied.by.kind {
        ApplierKind::Kustomization => by_applier || is_enabled("kustomize.toolkit.fluxcd.io/force"),
        ApplierKind::ResourceSet => is_enabled("fluxcd.controlplane.io/force"),
        ApplierKind::FluxInstance | ApplierKind::Bootstrap | ApplierKind::Folder => false,
    }
}

/// The repository or bucket that a source of manifests reads.
fn address(object: &Object) -> Option<[String; 2]> {
    let text = |path: &[&str]| object.text_at(path).unwrap_or_default();
    let (url, bucket) = match (object.group(), object.kind()) {
        (groups::SOURCE, "GitRepository" | "OCIRepository") => (text(&["spec", "url"]), ""),
        (groups::SOURCE, "Bucket") => (text(&["spec", "endpoint"]), text(&["spec", "bucketName"])),
        (groups::FLUX_OPERATOR, "FluxInstance") => (text(&["spec", "sync", "url"]), ""),
        _ => return None,
    };
    Some([Address::new(url).key().to_owned(), bucket.to_owned()])
}

/// The identity of the release of a HelmRelease: its name, its namespace, and the namespace of its storage. If one of them
/// changes, helm-controller uninstalls the former release.
///
/// <https://github.com/fluxcd/helm-controller/blob/main/internal/action/verify.go>
fn release(object: &Object) -> [String; 3] {
    let set = |field: &str| object.text_at(&["spec", field]).filter(|text| !text.is_empty());
    let own = object.namespace().unwrap_or_default();
    let target = set("targetNamespace");
    let name = match (set("releaseName"), target) {
        (Some(name), _) => name.to_owned(),
        (None, Some(target)) => format!("{target}-{}", object.name()),
        (None, None) => object.name().to_owned(),
    };
    [name, target.unwrap_or(own).to_owned(), set("storageNamespace").unwrap_or(own).to_owned()]
}

fn grants_rights(object: &Object) -> bool {
    object.group() == groups::RBAC
}
