//! What has been applied, and is ready where that is waited for, before an applier is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::applier_tree::Descent;
use crate::flux::Applier;
use crate::kube::ObjectId;
use crate::lint::fields::flag;
use crate::lint::fields::text_of;
use crate::lint::refs::dependency::dependencies;
use crate::lint::view::View;
use crate::yaml::Node;

/// The order among the appliers of a cluster. They are told by their places among [`crate::flux::Cluster::appliers`].
pub(crate) struct Before {
    nodes: Vec<Position>,
    known: RefCell<BTreeMap<usize, Rc<Set>>>,
}

/// An applier among the others.
#[derive(Default)]
struct Position {
    /// Who brings it.
    parent: Option<usize>,
    /// What comes before it, and whether that has to be ready.
    needs: Vec<(usize, bool)>,
    /// What it brings and has to be ready before it is.
    awaits: Vec<usize>,
}

/// Places.
#[derive(Clone)]
struct Set(Vec<u64>);

impl Set {
    fn of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Tells whether it was not there yet.
    fn insert(&mut self, at: usize) -> bool {
        let is_new = !self.has(at);
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
        is_new
    }
}

impl Before {
    /// That of a cluster, or of the one whose Flux applies to it.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let appliers = &view.receiver.cluster.appliers;
        let descent = Descent::of(view);
        let by_identity: BTreeMap<ObjectId<'_>, usize> =
            appliers.iter().rev().map(|applier| (identity(applier), applier.at)).collect();
        let mut nodes: Vec<Position> = appliers.iter().map(|_| Position::default()).collect();
        for applier in appliers {
            let parent = descent.parent(applier.at);
            let waits = applier.object.iter().flat_map(dependencies).filter_map(|dependency| {
                let ObjectId { group, kind, namespace, name } = dependency.target;
                let known = by_identity.get(&dependency.target).map(|at| (*at, true));
                // A ResourceSet may wait for an object of any kind, which somebody brings.
                known.or_else(|| view.find(group, kind, namespace, name).map(|found| (found.by.at, false)))
            });
            let needs = applier.parent.into_iter().chain(parent).map(|at| (at, false)).chain(waits).collect();
            if let Some(above) = parent.and_then(|parent| appliers.get(parent)).filter(|parent| awaits(parent, applier))
            {
                nodes[above.at].awaits.push(applier.at);
            }
            nodes[applier.at].parent = parent;
            nodes[applier.at].needs = needs;
        }
        Self { nodes, known: RefCell::default() }
    }

    /// Tells whether one applier brings another one, at whatever distance.
    pub(crate) fn is_above(&self, one: usize, other: usize) -> bool {
        let parent = |at: &usize| self.nodes.get(*at).and_then(|node| node.parent);
        std::iter::successors(parent(&other), parent).take(self.nodes.len()).any(|above| above == one)
    }

    /// Tells whether one applier comes before another: it brings it, is depended on by it or by what brings it, or is
    /// waited for by one of those.
    pub(crate) fn comes(&self, one: usize, other: usize) -> bool {
        one == other || self.is_above(one, other) || self.all(other).has(one)
    }

    fn all(&self, at: usize) -> Rc<Set> {
        if let Some(known) = self.known.borrow().get(&at) {
            return known.clone();
        }
        let all = Rc::new(self.collect(at));
        self.known.borrow_mut().insert(at, all.clone());
        all
    }

    fn collect(&self, start: usize) -> Set {
        let (mut before, mut ready) = (Set::of(self.nodes.len()), Set::of(self.nodes.len()));
        let mut open = vec![(start, false)];
        while let Some((at, is_ready)) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            if is_ready && ready.insert(at) {
                open.extend(node.awaits.iter().map(|child| (*child, true)));
            }
            if before.insert(at) {
                open.extend(&node.needs);
            }
        }
        before
    }
}

fn identity(applier: &Applier) -> ObjectId<'_> {
    let reference = &applier.reference;
    let namespace = reference.namespace.as_deref().unwrap_or_default();
    ObjectId { group: reference.group(), kind: &reference.kind, namespace, name: &reference.name }
}

/// Whether an applier is not ready before one that it brings is.
fn awaits(parent: &Arc<Applier>, child: &Applier) -> bool {
    let Some(spec) = parent.object.as_ref().and_then(|object| object.node.get("spec")) else { return false };
    let checks = spec.get("healthChecks").map(Node::items).unwrap_or_default();
    let is_checked = || checks.iter().any(|check| text_of(check, "name") == Some(&*child.reference.name));
    spec.get("wait").is_some_and(|wait| flag(wait) == Some(true)) || is_checked()
}
