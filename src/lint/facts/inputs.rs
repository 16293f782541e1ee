//! What Kustomizations, releases and their like take from objects that somebody brings: sources, variables, values.

use std::sync::Arc;

use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::Object;
use crate::kube::groups;
use crate::lint::refs::source_reference::{BUILT_FROM_SOURCES, source_of};
use crate::lint::refs::values_reference::values_of;
use crate::lint::refs::wanted::Wanted;
use crate::lint::view::View;
use crate::yaml::Node;

/// Something that one of them takes.
pub(crate) struct Input<'a> {
    /// The object that takes it.
    pub(crate) user: &'a Object,
    /// The applier that brings the user, or that the user is.
    pub(crate) by: &'a Arc<Applier>,
    /// Whether the user is that applier itself.
    pub(crate) is_itself: bool,
    /// The place that names it.
    pub(crate) node: &'a Node,
    /// What is taken, with who brings it.
    pub(crate) thing: Applied<'a>,
}

/// What they take on a cluster, without what may be absent.
pub(crate) fn inputs<'a>(view: &View<'a>) -> Vec<Input<'a>> {
    let mut found = Vec::new();
    let mut take = |user: &'a Object, by: &'a Arc<Applier>, is_itself: bool| {
        let source = source_of(user).map(|source| (source.node, source.wanted));
        let values = values_of(user).filter(|values| !values.optional).map(|values| (values.node, values.wanted));
        for (node, wanted) in source.into_iter().chain(values) {
            let Wanted { group, kind, namespace, name } = wanted;
            if let Some(thing) = view.find(group, kind, namespace, name) {
                found.push(Input { user, by, is_itself, node, thing });
            }
        }
    };
    // Kustomizations live where Flux does, whatever cluster they apply to.
    if view.receiver.target.is_none() {
        let appliers = view.receiver.cluster.appliers.iter();
        for applier in appliers.filter(|applier| applier.kind == ApplierKind::Kustomization) {
            if let Some(object) = &applier.object {
                take(object, applier, true);
            }
        }
    }
    for (group, kind) in BUILT_FROM_SOURCES.into_iter().filter(|kind| *kind != (groups::KUSTOMIZE, "Kustomization")) {
        for applied in view.of_kind(group, kind) {
            take(applied.object, applied.by, false);
        }
    }
    found
}
