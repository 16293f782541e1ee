//! Who brings whom among the appliers of a cluster, once what was applied by hand is applied by Flux.

use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::{AppliedSet, Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::view::View;
use crate::text::Index;

/// Who brings whom, by the places of appliers among those of their cluster.
pub(crate) struct Descent {
    parents: Vec<Option<usize>>,
}

impl Descent {
    /// Looks at a cluster. `flux bootstrap` applies only the root, but the folder that it stands in is often built as a
    /// whole, and who brings the rest of it is the root's Kustomization.
    pub(crate) fn of(view: &View<'_>) -> Self {
        Self::with(view, |_| true)
    }

    /// Looks at a cluster that is brought up from nothing. Whoever wrote its root without Flux's tools applies all that
    /// stands beside it, and Flux brings none of that.
    pub(crate) fn from_nothing(view: &View<'_>) -> Self {
        Self::with(view, |by_hand| by_hand.iter().any(|applier| is_of_tool(applier)))
    }

    fn with(view: &View<'_>, brings_the_rest: impl Fn(&[&Arc<Applier>]) -> bool) -> Self {
        let cluster = view.receiver.cluster;
        let is_by_hand =
            |at: usize| cluster.appliers.get(at).is_some_and(|applier| applier.kind == ApplierKind::Bootstrap);
        let by_hand = |applier: &Arc<Applier>| applier.parent.is_some_and(is_by_hand);
        let (mut wanted, mut names) = (Index::<&ObjectRef, ()>::default(), Index::<&str, ()>::default());
        let all: Vec<&Arc<Applier>> = cluster.appliers.iter().filter(|applier| by_hand(applier)).collect();
        let all = if brings_the_rest(&all) { all } else { Vec::new() };
        for applier in all {
            wanted.insert(&applier.reference, ());
            names.insert(&applier.reference.name, ());
        }
        let mut brings: Index<ObjectRef, usize> = Index::default();
        let lists = cluster.applied_sets.iter();
        for brought in lists.filter(|brought| !is_by_hand(brought.by.at) && brought.by.target.is_none()) {
            let objects = brought.tenancy_objects().map(|applied| applied.object);
            for object in objects.filter(|object| names.contains(object.name())).map(Object::reference) {
                if wanted.contains(&object) && !brings.contains(&object) {
                    brings.insert(object, brought.by.at);
                }
            }
        }
        let parent = |applier: &Arc<Applier>| {
            let flux = brings.get(&applier.reference).copied().filter(|at| *at != applier.at);
            if by_hand(applier) { flux.or(applier.parent) } else { applier.parent }
        };
        Self { parents: cluster.appliers.iter().map(parent).collect() }
    }

    /// Who brings an applier.
    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten().filter(|parent| *parent != at)
    }

    /// An applier, who brings it, and so on.
    pub(crate) fn line(&self, at: usize) -> impl Iterator<Item = usize> {
        // Two that bring each other would have no end.
        std::iter::successors(Some(at), |at| self.parent(*at)).take(self.parents.len())
    }

    /// Whether an applier is the one that brings a list, or brought it.
    pub(crate) fn is_above(&self, provider: usize, brought: &AppliedSet) -> bool {
        self.line(brought.by.at).any(|at| at == provider)
    }
}

/// Whether an applier is a root that the operator or `flux bootstrap` makes.
fn is_of_tool(applier: &Applier) -> bool {
    let written = applier.object.as_ref().map(|object| object.node.origin.written().file().path());
    let is_sync = written.is_some_and(|path| path.rsplit('/').next() == Some("gotk-sync.yaml"));
    applier.kind == ApplierKind::FluxInstance || is_sync
}
