//! Apply modes: whether an applier applies an object, merges it, creates it once, or ignores it.

use super::applied_set::Applied;
use super::applier::Applier;
use crate::flux::model::applier_kind::ApplierKind;
use crate::kube::Object;

/// The apply mode of an object, set by its labels or annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    /// The applier applies the object and reverts changes of its fields.
    Applied,
    /// The applier applies the object and keeps the fields of other managers.
    Merged,
    /// The applier creates the object if it is missing, and does not change an existing object.
    Created,
    /// The applier does not apply the object.
    Ignored,
}

const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
const APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// The annotation that disables the reconciliation of Flux Operator's own objects.
const OPERATOR_RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

/// The apply mode of an object that a Kustomization applies.
fn by_kustomization(object: &Object) -> ApplyMode {
    if object.is_marked(RECONCILE, "disabled") || object.is_marked(APPLY, "Ignore") {
        ApplyMode::Ignored
    } else if object.is_marked(APPLY, "IfNotPresent") {
        ApplyMode::Created
    } else if object.is_marked(APPLY, "Merge") {
        ApplyMode::Merged
    } else {
        ApplyMode::Applied
    }
}

fn apply_mode(kind: ApplierKind, object: &Object) -> ApplyMode {
    match kind {
        ApplierKind::Kustomization | ApplierKind::Folder => by_kustomization(object),
        // The expansion of a ResourceSet omits the objects that Flux Operator ignores.
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::ResourceSet => ApplyMode::Applied,
    }
}

impl Applied<'_> {
    /// The apply mode of the object.
    pub fn apply_mode(&self) -> ApplyMode {
        apply_mode(self.by.kind, self.object)
    }
}

impl Applier {
    /// The apply mode of the applier's own object. In any mode, the applier's objects are part of the cluster. In mode
    /// `Ignored`, the spec on the cluster may differ from the spec in the repository.
    pub fn apply_mode(&self) -> ApplyMode {
        let (by, object) = (self.parent_applier.as_ref(), self.object.as_ref());
        by.zip(object).map_or(ApplyMode::Applied, |(by, object)| apply_mode(by.kind, object))
    }

    /// Returns whether the applier is suspended. Its objects then keep the state of the last reconciliation.
    pub fn is_suspended(&self) -> bool {
        let Some(object) = &self.object else { return false };
        match self.kind {
            ApplierKind::Kustomization => object.text_at(&["spec", "suspend"]) == Some("true"),
            ApplierKind::ResourceSet | ApplierKind::FluxInstance => {
                let annotation = object.annotation(OPERATOR_RECONCILE);
                annotation.is_some_and(|value| value.eq_ignore_ascii_case("disabled"))
            }
            ApplierKind::Bootstrap | ApplierKind::Folder => false,
        }
    }
}
