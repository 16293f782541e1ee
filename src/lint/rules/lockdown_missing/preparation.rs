//! The changes of the platform's objects that must come before a lockdown.

use std::fmt;

use crate::flux::{Applied, ApplierKind, CROSS_NAMESPACE, DEFAULT_ACCOUNT, REMOTE_BASES};
use crate::kube::groups;
use crate::lint::refs::source_reference::source_of;
use crate::lint::view::View;

/// The changes that must come before the missing flags of the lockdown, as the start of a help text.
///
/// The text is empty if no change is necessary.
///
/// With the lockdown, kustomize-controller impersonates the default account in the namespace of the object, and rejects
/// a source of another namespace and a remote base.
pub(super) fn preparation(view: &View<'_>, is_missing: impl Fn(&str) -> bool) -> String {
    let tenants = &view.tenancy().tenants;
    let is_of_platform = |applied: &Applied<'_>| applied.namespace().is_none_or(|name| !tenants.contains_key(name));
    let kinds = [(groups::KUSTOMIZE, "Kustomization"), (groups::HELM, "HelmRelease")];
    let objects = || kinds.into_iter().flat_map(|(group, kind)| view.of_kind(group, kind)).filter(is_of_platform);
    let mut changes = Vec::new();
    if is_missing(DEFAULT_ACCOUNT) {
        // Flux Operator sets the account of the sync that it generates.
        let has_account = |applied: &Applied<'_>| {
            let is_set = |field| applied.object.node.at_keys(&["spec", field]).is_some_and(|node| !node.is_null());
            is_set("serviceAccountName") || is_set("kubeConfig") || applied.by.kind == ApplierKind::FluxInstance
        };
        let homes = &view.tenancy().flux_namespaces;
        let is_beside_flux = |applied: &Applied<'_>| applied.namespace().is_some_and(|name| homes.contains(name));
        let without: Vec<Applied<'_>> = objects().filter(|applied| !has_account(applied)).collect();
        let (beside, elsewhere): (Vec<_>, Vec<_>) = without.iter().partition(|applied| is_beside_flux(applied));
        let references = |objects: Vec<&Applied<'_>>| names(objects.iter().map(|applied| applied.object.reference()));
        changes.extend(references(beside).map(|names| {
            format!(
                "set `serviceAccountName` in {names}, to an account with the rights of Flux, such as \
                 `kustomize-controller`"
            )
        }));
        // Flux impersonates an account in the namespace of the object, so the accounts of Flux are out of reach.
        changes.extend(references(elsewhere).map(|names| {
            format!(
                "set `serviceAccountName` in {names}, to an account of the same namespace with the necessary rights"
            )
        }));
    }
    if is_missing(REMOTE_BASES) {
        let loading = view.applied_sets().filter(|set| set.remote().iter().any(|remote| !remote.is_file()));
        changes.extend(
            names(loading.map(|set| &set.by.reference))
                .map(|names| format!("copy the remote bases of {names} into the repository")),
        );
    }
    if is_missing(CROSS_NAMESPACE) {
        let is_elsewhere = |applied: &Applied<'_>| {
            source_of(applied.object).is_some_and(|source| Some(source.target.namespace) != applied.object.namespace())
        };
        let crossing = names(objects().filter(is_elsewhere).map(|applied| applied.object.reference()));
        changes.extend(crossing.map(|names| format!("add a source to the namespace of {names}")));
    }
    if changes.is_empty() {
        return String::new();
    }
    format!("first {}, since these objects fail otherwise; then ", changes.join(", and "))
}

/// The first of several objects, with the number of other objects, as text for a message.
fn names<T: fmt::Display>(mut objects: impl Iterator<Item = T>) -> Option<String> {
    let first = objects.next()?;
    Some(match objects.count() {
        0 => first.to_string(),
        1 => format!("{first} and one other"),
        others => format!("{first} and {others} others"),
    })
}
