//! Ownership settings of objects: whether an applier overwrites and deletes them.

use crate::flux::{Applier, ApplierKind};
use crate::kube::Object;
use crate::yaml::Node;

/// The settings by which an object limits the changes that an applier makes to it.
///
/// Source: the selectors of kustomize-controller 1.9 and Flux Operator 0.58. They match a label or an annotation and
/// ignore case. The operator has no selector for applying objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnershipSettings {
    /// Whether the applier does not overwrite an existing object, or only adds fields to it.
    pub(crate) is_not_overwritten: bool,
    /// Whether the applier never deletes the object.
    pub(crate) is_not_pruned: bool,
}

impl OwnershipSettings {
    /// The settings of an object for appliers of a kind.
    pub(crate) fn read(object: &Object, kind: ApplierKind) -> Self {
        if kind == ApplierKind::ResourceSet {
            let is_not_pruned = object.is_marked("fluxcd.controlplane.io/prune", "disabled");
            return Self { is_not_overwritten: false, is_not_pruned };
        }
        let is_not_overwritten =
            ["IfNotPresent", "Merge"].iter().any(|mode| object.is_marked(SSA, mode)) || is_ignored(object);
        let is_not_pruned = object.is_marked("kustomize.toolkit.fluxcd.io/prune", "disabled") || is_ignored(object);
        Self { is_not_overwritten, is_not_pruned }
    }
}

const SSA: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// Returns whether kustomize-controller ignores an object on the cluster, regardless of the applier of the object.
pub(crate) fn is_ignored(object: &Object) -> bool {
    object.is_marked("kustomize.toolkit.fluxcd.io/reconcile", "disabled") || object.is_marked(SSA, "Ignore")
}

/// Returns whether kustomize-controller does not change an object that exists.
///
/// With `ssa: Merge`, the controller keeps fields of other writers, but sets the fields of the manifest.
pub(crate) fn is_left_to_others(object: &Object) -> bool {
    object.is_marked(SSA, "IfNotPresent") || is_ignored(object)
}

/// Returns whether an applier deletes the objects that are no longer in its source.
pub(crate) fn prunes(applier: &Applier) -> bool {
    match applier.kind {
        ApplierKind::Kustomization => spec(applier, "prune").and_then(Node::text) == Some("true"),
        ApplierKind::ResourceSet => true,
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::Folder => false,
    }
}

fn spec<'a>(applier: &'a Applier, field: &str) -> Option<&'a Node> {
    applier.object.as_ref()?.node.at_keys(&["spec", field])
}
