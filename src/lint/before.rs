//! What has been applied, and is ready where that is waited for, before an applier is.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::View;
use super::dependency::dependencies;
use super::fields::flag;
use super::wanted::Wanted;
use crate::flux::{Applier, ApplierKind};
use crate::yaml::Node;

/// The order among the appliers of a cluster. They are told by their places among [`crate::flux::Cluster::appliers`].
pub(super) struct Before<'v, 'a> {
    view: &'v View<'a>,
    appliers: &'a [Arc<Applier>],
    by_identity: BTreeMap<Wanted<'a>, usize>,
    children: Vec<Vec<usize>>,
    /// Who applies what was applied by hand at first.
    taken_over: BTreeMap<usize, usize>,
    known: RefCell<BTreeMap<usize, Rc<BTreeSet<usize>>>>,
}

impl<'v, 'a> Before<'v, 'a> {
    /// That of a cluster, or of the one whose Flux applies to it.
    pub(super) fn of(view: &'v View<'a>) -> Self {
        let appliers: &'a [Arc<Applier>] = &view.receiver.cluster.appliers;
        let (mut by_identity, mut taken_over) = (BTreeMap::new(), BTreeMap::new());
        let mut children = vec![Vec::new(); appliers.len()];
        for applier in appliers {
            let reference = &applier.reference;
            let wanted = Wanted {
                group: reference.group(),
                kind: &reference.kind,
                namespace: reference.namespace.as_deref().unwrap_or_default(),
                name: &reference.name,
            };
            by_identity.entry(wanted).or_insert(applier.at);
            let parent = applier.parent.and_then(|parent| appliers.get(parent));
            if parent.is_some_and(|parent| parent.kind == ApplierKind::Bootstrap)
                && let Some(since) = applied_since(view, wanted).filter(|since| *since != applier.at)
            {
                taken_over.insert(applier.at, since);
            }
            if let Some(own) = applier.parent.and_then(|parent| children.get_mut(parent)) {
                own.push(applier.at);
            }
        }
        Self { view, appliers, by_identity, children, taken_over, known: RefCell::default() }
    }

    /// Tells whether one applier brings another one, at whatever distance.
    pub(super) fn is_above(&self, one: usize, other: usize) -> bool {
        let parent = |at: &usize| {
            let since = self.taken_over.get(at).copied();
            since.or_else(|| self.appliers.get(*at).and_then(|applier| applier.parent))
        };
        std::iter::successors(parent(&other), parent).take(self.appliers.len()).any(|above| above == one)
    }

    /// Tells whether one applier comes before another: it brings it, is depended on by it or by what brings it, or is
    /// waited for by one of those.
    pub(super) fn comes(&self, one: usize, other: usize) -> bool {
        one == other || self.all(other).contains(&one)
    }

    fn all(&self, at: usize) -> Rc<BTreeSet<usize>> {
        if let Some(known) = self.known.borrow().get(&at) {
            return known.clone();
        }
        let all = Rc::new(self.collect(at));
        self.known.borrow_mut().insert(at, all.clone());
        all
    }

    fn collect(&self, start: usize) -> BTreeSet<usize> {
        let mut before: BTreeSet<usize> = BTreeSet::new();
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            let Some(applier) = self.appliers.get(at).filter(|_| before.insert(at)) else { continue };
            open.extend(applier.parent);
            open.extend(self.taken_over.get(&at));
            let waits = applier.object.iter().flat_map(dependencies);
            for wanted in waits.map(|dependency| dependency.wanted) {
                if let Some(next) = self.by_identity.get(&wanted) {
                    open.push(*next);
                    open.extend(self.gated(*next));
                } else if let Some(found) = self.view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name) {
                    // A ResourceSet may wait for an object of any kind, which somebody brings.
                    open.push(found.by.at);
                }
            }
        }
        before
    }

    /// What has to be ready before an applier is.
    fn gated(&self, at: usize) -> Vec<usize> {
        let mut gated = Vec::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            let object = self.appliers.get(at).and_then(|applier| applier.object.as_ref());
            let spec = object.and_then(|object| object.node.get("spec"));
            let waits = spec.and_then(|spec| spec.get("wait")).is_some_and(|wait| flag(wait) == Some(true));
            let checks = spec.and_then(|spec| spec.get("healthChecks")).map(Node::items).unwrap_or_default();
            for child in self.children.get(at).into_iter().flatten() {
                let name = self.appliers.get(*child).map(|applier| &*applier.reference.name);
                let is_checked = || checks.iter().any(|check| check.get("name").and_then(Node::text) == name);
                if waits || is_checked() {
                    gated.push(*child);
                    open.push(*child);
                }
            }
        }
        gated
    }
}

/// Who applies something that was applied by hand at first. On a cluster that another one's Flux applies to, that is
/// taken to be what this Flux syncs.
fn applied_since<'a>(view: &View<'a>, wanted: Wanted<'a>) -> Option<usize> {
    if view.receiver.target.is_none() {
        return view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name).map(|found| found.by.at);
    }
    let mut appliers = view.receiver.cluster.appliers.iter();
    appliers.find(|applier| applier.kind == ApplierKind::Kustomization).map(|applier| applier.at)
}
