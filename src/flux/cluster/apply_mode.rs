//! What appliers do with an object of theirs on the cluster: apply it, or leave what is there as it is.

use super::applied_set::Applied;
use super::applier::Applier;
use crate::flux::model::applier_kind::ApplierKind;
use crate::kube::Object;
use crate::yaml::Node;

/// What an applier does with an object of its build, as the object's labels or annotations ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    /// It is applied, and what others change in its fields is undone.
    Applied,
    /// It is applied, and fields of others stay where the managers that Flux takes away from own them.
    Merged,
    /// It is applied once, where it is missing; what is there already stays as it is.
    Created,
    /// It is not applied: what is there under its name stays as it is, and what is missing stays missing.
    Ignored,
}

const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
const APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// What pauses the operator's own objects.
const OPERATOR_RECONCILE: &str = "fluxcd.controlplane.io/reconcile";

/// How a Kustomization handles an object.
fn by_kustomization(object: &Object) -> Handling {
    let says = |key: &str, value: &str| {
        let metadata = object.node.get("metadata");
        let said = |field: &str| metadata.and_then(|metadata| metadata.at_keys(&[field, key])).and_then(Node::text);
        ["labels", "annotations"].into_iter().filter_map(said).any(|said| said.eq_ignore_ascii_case(value))
    };
    if says(RECONCILE, "disabled") || says(APPLY, "Ignore") {
        Handling::Ignored
    } else if says(APPLY, "IfNotPresent") {
        Handling::Created
    } else if says(APPLY, "Merge") {
        Handling::Merged
    } else {
        Handling::Applied
    }
}

fn of(kind: ApplierKind, object: &Object) -> Handling {
    match kind {
        ApplierKind::Kustomization | ApplierKind::Folder => by_kustomization(object),
        // What the operator leaves out is not among what a set brings.
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::ResourceSet => Handling::Applied,
    }
}

impl Applied<'_> {
    /// What its applier does with it.
    pub fn handling(&self) -> Handling {
        of(self.by.kind, self.object)
    }
}

impl Applier {
    /// What the applier that brings it does with it. It is followed whatever that is: where it is ignored, another spec
    /// than that of the repository may run.
    pub fn handling(&self) -> Handling {
        let (by, object) = (self.brought_by.as_ref(), self.object.as_ref());
        by.zip(object).map_or(Handling::Applied, |(by, object)| of(by.kind, object))
    }

    /// Whether it is paused: what it brings stays on the cluster as it was when it was applied last.
    pub fn is_suspended(&self) -> bool {
        let Some(object) = &self.object else { return false };
        match self.kind {
            ApplierKind::Kustomization => object.text_at(&["spec", "suspend"]) == Some("true"),
            ApplierKind::ResourceSet | ApplierKind::FluxInstance => {
                let said = object.text_at(&["metadata", "annotations", OPERATOR_RECONCILE]);
                said.is_some_and(|said| said.eq_ignore_ascii_case("disabled"))
            }
            ApplierKind::Bootstrap | ApplierKind::Folder => false,
        }
    }
}
