//! What appliers and objects say of who owns an object, and of what happens to it in the end.

use crate::flux::{Applier, ApplierKind};
use crate::kube::Object;
use crate::yaml::Node;

/// How an applier treats one object.
///
/// Source: the selectors that kustomize-controller 1.9 and Flux Operator 0.58 apply and delete with. They look for a
/// label or an annotation, in letters of either case. The operator has none for what it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it leaves what is there as it is, or adds to it.
    pub(crate) yields: bool,
    /// Whether it never deletes it.
    pub(crate) keeps: bool,
}

impl Manner {
    /// What an object says to appliers of a kind.
    pub(crate) fn of(object: &Object, kind: ApplierKind) -> Self {
        if kind == ApplierKind::ResourceSet {
            return Self { yields: false, keeps: says(object, "fluxcd.controlplane.io/prune", &["disabled"]) };
        }
        let yields = says(object, SSA, &["IfNotPresent", "Merge"]) || sends_away(object);
        let keeps = says(object, "kustomize.toolkit.fluxcd.io/prune", &["disabled"]) || sends_away(object);
        Self { yields, keeps }
    }
}

const SSA: &str = "kustomize.toolkit.fluxcd.io/ssa";

/// Whether kustomize-controller leaves an object alone that says this on the cluster, whoever put it there.
pub(crate) fn sends_away(object: &Object) -> bool {
    says(object, "kustomize.toolkit.fluxcd.io/reconcile", &["disabled"]) || says(object, SSA, &["Ignore"])
}

fn says(object: &Object, key: &str, values: &[&str]) -> bool {
    let metadata = ["labels", "annotations"].into_iter();
    let mut said = metadata.filter_map(|field| object.text_at(&["metadata", field, key]));
    said.any(|said| values.iter().any(|value| said.eq_ignore_ascii_case(value)))
}

/// Whether an applier deletes what it does not bring any more.
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
