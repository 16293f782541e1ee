//! Texts and limits that the findings of the rule share.

use crate::flux::{Applied, ApplierKind};
use crate::kube::{Object, groups};

/// The number of owners that a finding shows for one object.
pub(super) const MAX_SHOWN: usize = 4;

/// The end of the message of an error.
pub(super) const WITH_DIFFERENCE: &str = " with different content";

/// Returns the instructions to remove objects from an applier that prunes, so that Flux does not delete the objects.
///
/// Flux prunes an object that a Kustomization no longer contains, if that Kustomization applied the object last,
/// according to its labels. For a deleted Kustomization, `deletionPolicy` has precedence over `prune`.
pub(super) fn safe_removal(owners: &[Applied<'_>], objects: &str) -> String {
    let policy = |owner: &Applied<'_>| {
        let object = owner.by.object.as_ref()?;
        object.text_at(&["spec", "deletionPolicy"]).map(str::to_owned)
    };
    let deletes = |policy: &str| matches!(policy, "Delete" | "WaitForTermination");
    let has_policy = owners.iter().filter_map(policy).any(|policy| deletes(&policy));
    let orphan = if has_policy { " and `deletionPolicy: Orphan`" } else { "" };
    let installs = |object: &Object| {
        object.is(groups::FLUX_OPERATOR, "FluxInstance")
            || (object.is(groups::HELM, "HelmRelease") && matches!(object.name(), "flux-operator" | "flux-instance"))
    };
    let uninstalled = if owners.iter().any(|owner| installs(owner.object)) { ", which uninstalls Flux" } else { "" };
    let is_set = |owner: &Applied<'_>| owner.by.kind == ApplierKind::ResourceSet;
    if owners.iter().all(is_set) {
        return format!(
            "first add the annotation `fluxcd.controlplane.io/prune: disabled` to {objects} in the ResourceSet that no \
             longer needs {objects}, and wait for its reconciliation, since Flux Operator deletes what a ResourceSet no \
             longer contains"
        );
    }
    format!(
        "first set `prune: false`{orphan} in the Kustomization that no longer needs {objects}, and wait for its \
         reconciliation, since Flux deletes {objects} if this Kustomization was the last one to apply {}{uninstalled}",
        if objects == "the object" { "it" } else { "them" }
    )
}
