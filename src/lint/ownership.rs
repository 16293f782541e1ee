//! What appliers and objects say of who owns an object, and of what happens to it in the end.

use crate::flux::{Applier, ApplierKind};
use crate::kube::Object;
use crate::yaml::Node;

/// How an applier treats one object.
///
/// Source: the selectors that kustomize-controller 1.9 and Flux Operator 0.58 apply and delete with. They look for a
/// label or an annotation, in letters of either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    /// Whether it leaves what is there as it is, or adds to it.
    pub(super) yields: bool,
    /// Whether it never deletes it.
    pub(super) keeps: bool,
}

impl Manner {
    /// What an object says to appliers of a kind.
    pub(super) fn of(object: &Object, kind: ApplierKind) -> Self {
        let says = |key: &str, values: &[&str]| {
            let metadata = ["labels", "annotations"].into_iter();
            let said = metadata.filter_map(|field| object.text_at(&["metadata", field, key]));
            said.into_iter().any(|said| values.iter().any(|value| said.eq_ignore_ascii_case(value)))
        };
        let yields = says("kustomize.toolkit.fluxcd.io/ssa", &["IfNotPresent", "Ignore", "Merge"])
            || says("kustomize.toolkit.fluxcd.io/reconcile", &["disabled"]);
        let keeps = match kind {
            ApplierKind::ResourceSet => says("fluxcd.controlplane.io/prune", &["disabled"]),
            _ => {
                says("kustomize.toolkit.fluxcd.io/prune", &["disabled"])
                    || says("kustomize.toolkit.fluxcd.io/reconcile", &["disabled"])
                    || says("kustomize.toolkit.fluxcd.io/ssa", &["Ignore"])
            }
        };
        Self { yields, keeps }
    }
}

/// Whether an applier is suspended: then it neither applies nor deletes.
pub(super) fn is_suspended(applier: &Applier) -> bool {
    spec(applier, "suspend").and_then(Node::text) == Some("true")
}

/// Whether an applier deletes what it does not bring any more.
pub(super) fn prunes(applier: &Applier) -> bool {
    match applier.kind {
        ApplierKind::Kustomization => spec(applier, "prune").and_then(Node::text) == Some("true"),
        ApplierKind::ResourceSet => true,
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::Folder => false,
    }
}

fn spec<'a>(applier: &'a Applier, field: &str) -> Option<&'a Node> {
    applier.object.as_ref()?.node.at_keys(&["spec", field])
}
