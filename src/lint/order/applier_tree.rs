//! The applier tree. The parent of an applier applies the object of that applier.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::{AppliedSet, Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::view::View;
use crate::text::{Index, folder_of};

/// The parent of each applier, by positions in [`crate::flux::Cluster::appliers`].
///
/// If users first apply an applier by hand, its parent is the applier that applies it afterwards.
pub(crate) struct ApplierTree {
    parents: Vec<Option<usize>>,
    /// Whether `flux bootstrap` applies each applier before its parent applies it, too.
    is_of_bootstrap: Vec<bool>,
}

impl ApplierTree {
    /// The tree of a running cluster.
    ///
    /// The root's Kustomization often builds the whole directory of the root, and then applies all objects in it.
    pub(crate) fn when_running(view: &View<'_>) -> Self {
        Self { is_of_bootstrap: Vec::new(), ..Self::with(view, |_| true) }
    }

    /// The tree of a cluster in a cold start.
    ///
    /// Users who write a root without Flux's tools apply all objects beside the root by hand. Flux does not apply these
    /// objects. `flux bootstrap` applies the kustomization in the directory of `gotk-sync.yaml`, not only the root.
    ///
    /// Source: `ReconcileSyncConfig` in `pkg/bootstrap/bootstrap_plain_git.go` of flux2.
    pub(crate) fn at_cold_start(view: &View<'_>) -> Self {
        let tree = Self::with(view, |by_hand| by_hand.iter().any(|applier| is_created_by_tool(applier)));
        tree.without_adopters_below(view)
    }

    /// The tree without the parents that exist only after their child. A user applies such a child by hand.
    fn without_adopters_below(mut self, view: &View<'_>) -> Self {
        let appliers = &view.receiver.cluster.appliers;
        for (applier, parent) in appliers.iter().zip(&mut self.parents) {
            let above = |at: &usize| appliers.get(*at).and_then(|one| one.parent);
            // The limit ends a cycle of appliers that apply each other.
            let mut lineage = std::iter::successors(*parent, above).take(appliers.len());
            if lineage.any(|at| at == applier.at) {
                *parent = applier.parent;
            }
        }
        self
    }

    fn with(view: &View<'_>, adopts: impl Fn(&[&Arc<Applier>]) -> bool) -> Self {
        let cluster = view.receiver.cluster;
        let is_bootstrap =
            |at: usize| cluster.appliers.get(at).is_some_and(|applier| applier.kind == ApplierKind::Bootstrap);
        let is_by_hand = |applier: &Arc<Applier>| applier.parent.is_some_and(is_bootstrap);
        let (mut by_hand, mut names) = (Index::<&ObjectRef, ()>::default(), Index::<&str, ()>::default());
        let all: Vec<&Arc<Applier>> = cluster.appliers.iter().filter(|applier| is_by_hand(applier)).collect();
        let all = if adopts(&all) { all } else { Vec::new() };
        for applier in &all {
            by_hand.insert(&applier.reference, ());
            names.insert(&applier.reference.name, ());
        }
        let mut adopters: Index<ObjectRef, usize> = Index::default();
        let lists = cluster.applied_sets.iter();
        for brought in lists.filter(|brought| !is_bootstrap(brought.by.at) && brought.by.target.is_none()) {
            let objects = brought.tenancy_objects().map(|applied| applied.object);
            for object in objects.filter(|object| names.contains(object.name())).map(Object::reference) {
                if by_hand.contains(&object) && !adopters.contains(&object) {
                    adopters.insert(object, brought.by.at);
                }
            }
        }
        let parent = |applier: &Arc<Applier>| {
            let adopter = adopters.get(&applier.reference).copied().filter(|at| *at != applier.at);
            if is_by_hand(applier) { adopter.or(applier.parent) } else { applier.parent }
        };
        let is_of_bootstrap =
            |applier: &Arc<Applier>| is_by_hand(applier) && all.iter().any(|sync| is_beside(sync, applier));
        Self {
            parents: cluster.appliers.iter().map(parent).collect(),
            is_of_bootstrap: cluster.appliers.iter().map(is_of_bootstrap).collect(),
        }
    }

    /// The tree without the appliers that `flux bootstrap` applies, for roots whose bootstrap fails.
    pub(crate) fn without_bootstraps_of(mut self, roots: &BTreeSet<usize>) -> Self {
        for (parent, is_of_bootstrap) in self.parents.iter().zip(&mut self.is_of_bootstrap) {
            *is_of_bootstrap &= !parent.is_some_and(|parent| roots.contains(&parent));
        }
        self
    }

    /// The directory of the `gotk-sync.yaml` that defines an applier.
    pub(crate) fn folder_of_sync<'v>(view: &View<'v>, at: usize) -> Option<&'v str> {
        let file = view.receiver.cluster.appliers.get(at).and_then(|applier| file_of(applier))?;
        is_sync_file(file).then(|| folder_of(file))
    }

    /// Returns whether `flux bootstrap` applies an applier before its parent applies it, too.
    pub(crate) fn is_of_bootstrap(&self, at: usize) -> bool {
        self.is_of_bootstrap.get(at) == Some(&true)
    }

    /// Returns whether an applier exists only after an ancestor, or the applier itself, is applied.
    pub(crate) fn starts_after(&self, at: usize, ancestor: usize) -> bool {
        let mut is_early = false;
        for above in self.lineage(at) {
            if above == ancestor {
                return !is_early;
            }
            is_early |= self.is_of_bootstrap(above);
        }
        false
    }

    /// The applier that applies the object of an applier.
    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten().filter(|parent| *parent != at)
    }

    /// An applier and its ancestors.
    pub(crate) fn lineage(&self, at: usize) -> impl Iterator<Item = usize> {
        // The limit ends a cycle of appliers that apply each other.
        std::iter::successors(Some(at), |at| self.parent(*at)).take(self.parents.len())
    }

    /// Returns whether an applier is an ancestor of another applier.
    pub(crate) fn is_ancestor(&self, ancestor: usize, of: usize) -> bool {
        self.lineage(of).skip(1).any(|at| at == ancestor)
    }

    /// Returns whether an applier applies an applied set, or is an ancestor of the applier that applies the set.
    pub(crate) fn applies(&self, applier: usize, brought: &AppliedSet) -> bool {
        self.lineage(brought.by.at).any(|at| at == applier)
    }
}

/// Returns whether a root is a FluxInstance or the sync that `flux bootstrap` creates.
fn is_created_by_tool(applier: &Applier) -> bool {
    applier.kind == ApplierKind::FluxInstance || file_of(applier).is_some_and(is_sync_file)
}

/// Returns whether an applier is written beside the sync that `flux bootstrap` creates.
fn is_beside(sync: &Applier, applier: &Applier) -> bool {
    let (Some(sync), Some(file)) = (file_of(sync).filter(|path| is_sync_file(path)), file_of(applier)) else {
        return false;
    };
    sync != file && folder_of(sync) == folder_of(file)
}

fn is_sync_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(crate::kube::groups::SYNC_FILE)
}

fn file_of(applier: &Applier) -> Option<&str> {
    applier.object.as_ref().map(|object| object.node.origin.written().file().path())
}
