//! The order in which Flux applies the appliers of a cluster, and in which these appliers become ready.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::applier_tree::ApplierTree;
use crate::base::graph::Graph;
use crate::flux::{Applier, ApplierKind};
use crate::kube::{Object, ObjectId, groups};
use crate::lint::facts::own_position::own_position;
use crate::lint::fields::{flag, text_of};
use crate::lint::refs::dependency::{Condition, dependencies};
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// The order of a cluster's events: an applier starts, an applier is applied, an applier becomes ready, a HelmRelease
/// becomes ready.
///
/// An applier that starts applies its CRDs and Namespaces first. If the API server then rejects other objects, the CRDs
/// and Namespaces exist nevertheless.
///
/// An edge leads from an event to another event that must happen first.
pub(crate) struct ApplyOrder<'a> {
    appliers: &'a [Arc<Applier>],
    releases: Vec<&'a Object>,
    graph: Graph<Reason>,
    before: RefCell<Index<usize, Rc<[bool]>>>,
}

/// The reason why an event waits for another event.
#[derive(Debug, Clone)]
pub(crate) enum Reason {
    /// An applier or a release is applied before it becomes ready.
    Applied,
    /// An applier applies the object of another applier.
    AppliedByParent,
    /// `dependsOn` at this position, which waits until the condition is true.
    DependsOn(Span, Condition),
    /// `wait` or a health check at this position.
    HealthCheck(Span),
    /// A health check of an object that a release below the applier may create. This reason is never a part of a cycle.
    MayCreate,
    /// An object at this position needs an object of the other applier. The text describes the need.
    Needs(Span, String, Certainty),
}

impl Reason {
    fn is_of_cycle(&self) -> bool {
        !matches!(self, Self::MayCreate)
    }
}

/// Whether a need is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// Only the applier creates the needed object.
    Certain,
    /// A user or another program may create the needed object before Flux starts.
    Likely,
}

/// Events that all wait for each other.
pub(crate) struct EventCycle {
    /// The positions of the appliers with these events.
    pub(crate) appliers: BTreeSet<usize>,
    /// The steps of the shortest cycle. Messages start with the first step.
    pub(crate) steps: Vec<CycleStep>,
    /// The events.
    pub(crate) events: Vec<usize>,
}

impl EventCycle {
    /// Returns whether the events certainly never happen.
    ///
    /// The result is `false` for a `readyExpr`, which may be true before its object is ready, and for a need that is
    /// only likely.
    pub(crate) fn is_certain(&self) -> bool {
        let is_open = |reason: &Reason| {
            matches!(reason, Reason::DependsOn(_, Condition::Expression) | Reason::Needs(_, _, Certainty::Likely))
        };
        !self.steps.iter().any(|step| is_open(&step.reason))
    }
}

/// A step of a cycle: an event that waits for the next event.
pub(crate) struct CycleStep {
    /// The event that waits.
    pub(crate) from: usize,
    /// The event that must happen first.
    pub(crate) to: usize,
    /// The reason why the event waits.
    pub(crate) reason: Reason,
}

impl<'a> ApplyOrder<'a> {
    /// The order that the dependencies and health checks of a cluster require.
    pub(crate) fn new(view: &View<'a>, tree: &ApplierTree) -> Self {
        let appliers: &'a [Arc<Applier>] = &view.receiver.cluster.appliers;
        let mut release_events: Index<ObjectId<'a>, usize> = Index::default();
        let (mut releases, mut release_appliers) = (Vec::new(), Vec::new());
        // A release without dependencies becomes ready some time after Flux applies it, so it does not need an event.
        for release in view.of_kind(groups::HELM, "HelmRelease").filter(|one| dependencies(one.object).next().is_some())
        {
            let event = EVENTS * appliers.len() + releases.len();
            release_events.entry_or(ObjectId::of(release.object).settled(), || event);
            releases.push(release.object);
            release_appliers.push(release.by.at);
        }
        let graph = Graph::new(EVENTS * appliers.len() + releases.len());
        let mut order = Self { appliers, releases, graph, before: RefCell::default() };
        let ready_event =
            |id: ObjectId<'_>| view.applier_at(id).map(ready).or_else(|| release_events.get(&id.settled()).copied());
        let relevant = order.relevant(tree, view);
        for applier in relevant.into_iter().filter_map(|at| appliers.get(at)) {
            order.add_applier(applier, tree, ready_event, view);
        }
        for (at, by) in release_appliers.into_iter().enumerate() {
            let (event, object) = (EVENTS * appliers.len() + at, order.releases[at]);
            order.graph.add_edge(event, applied(by), Reason::Applied);
            order.add_dependencies(event, object, ready_event, view);
            if let Some(position) = wait_position(&appliers[by]) {
                order.graph.add_edge(ready(by), event, Reason::HealthCheck(position));
            }
        }
        order
    }

    /// The appliers whose events matter: all, or for another cluster, those that apply objects to it and those for which they
    /// wait. A cluster may apply objects to many others, so that each of them must not visit all appliers.
    fn relevant(&self, tree: &ApplierTree, view: &View<'a>) -> BTreeSet<usize> {
        let positions = 0..self.appliers.len();
        if view.receiver.target.is_none() {
            return positions.collect();
        }
        let children: OnceCell<Index<usize, Vec<usize>>> = OnceCell::new();
        let children = || {
            children.get_or_init(|| {
                let mut children: Index<usize, Vec<usize>> = Index::default();
                for (parent, at) in positions.clone().filter_map(|at| Some((tree.parent(at)?, at))) {
                    children.entry(parent).push(at);
                }
                children
            })
        };
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = view.appliers().map(|applier| applier.at).collect();
        while let Some(at) = open.pop() {
            let Some(applier) = self.appliers.get(at).filter(|_| found.insert(at)) else { continue };
            open.extend(tree.parent(at));
            if wait_position(applier).is_some() {
                open.extend(children().get(&at).into_iter().flatten());
            }
            let Some(object) = applied_object(applier) else { continue };
            open.extend(dependencies(object).filter_map(|dependency| view.applier_at(dependency.target)));
            let checked = health_checks(applier).map(|check| checked_object(check, object));
            open.extend(checked.filter_map(|target| view.applier_at(target)));
        }
        found
    }

    fn add_applier(
        &mut self,
        applier: &'a Applier,
        tree: &ApplierTree,
        ready_event: impl Fn(ObjectId<'_>) -> Option<usize>,
        view: &View<'a>,
    ) {
        let at = applier.at;
        self.graph.add_edge(ready(at), applied(at), Reason::Applied);
        self.graph.add_edge(applied(at), started(at), Reason::Applied);
        if let Some(parent) = tree.parent(at) {
            let reason = if applier.object.is_some() { Reason::AppliedByParent } else { Reason::Applied };
            if !tree.is_of_bootstrap(at) {
                self.graph.add_edge(started(at), applied(parent), reason);
            }
            if let Some(position) = self.appliers.get(parent).and_then(|parent| wait_position(parent)) {
                self.graph.add_edge(ready(parent), ready(at), Reason::HealthCheck(position));
            }
        }
        let Some(object) = applied_object(applier) else { return };
        self.add_dependencies(started(at), object, &ready_event, view);
        // Flux ignores `healthChecks` if `wait` is set. For a remote applier, Flux checks the health of objects on the
        // remote cluster.
        if wait_position(applier).is_some() || applier.target != view.receiver.target {
            return;
        }
        for check in health_checks(applier) {
            let target = checked_object(check, object);
            // Flux must at least apply an object without an event of its own.
            let by_applier = || view.get(target).map(|found| applied(found.by.at));
            let event = ready_event(target).or_else(by_applier);
            let Some(event) = event else {
                // Flux waits until the object exists. Therefore, it waits for the release that creates the object.
                let releases = view.unknown_sources().of(target).filter(|producer| producer.is_chart());
                for by in releases.filter_map(|producer| producer.by).filter(|by| is_below(by, at)) {
                    self.graph.add_edge(ready(at), applied(by.at), Reason::MayCreate);
                }
                continue;
            };
            if event != ready(at) {
                let position = own_position(applier, check.span());
                self.graph.add_edge(ready(at), event, Reason::HealthCheck(position));
            }
        }
    }

    fn add_dependencies(
        &mut self,
        event: usize,
        object: &'a Object,
        ready_event: impl Fn(ObjectId<'_>) -> Option<usize>,
        view: &View<'a>,
    ) {
        for dependency in dependencies(object) {
            let is_ready_needed = dependency.condition != Condition::Exists;
            let before = ready_event(dependency.target).filter(|_| is_ready_needed);
            let before = before.or_else(|| view.get(dependency.target).map(|found| applied(found.by.at)));
            if let Some(before) = before {
                self.graph.add_edge(
                    event,
                    before,
                    Reason::DependsOn(dependency.item.span().clone(), dependency.condition),
                );
            }
        }
    }

    /// Adds the need of an event for another event that creates an object.
    ///
    /// `need` is a position with a description.
    pub(crate) fn add_need(&mut self, event: usize, creation: usize, need: (Span, String), certainty: Certainty) {
        let (position, description) = need;
        self.graph.add_edge(event, creation, Reason::Needs(position, description, certainty));
    }

    /// The appliers that Flux certainly applies before another applier, regardless of needs.
    pub(crate) fn before(&self, at: usize) -> Rc<[bool]> {
        self.before
            .borrow_mut()
            .entry_or(at, || {
                let events = self.graph.reachable(applied(at), |edge| !matches!(edge.label, Reason::Needs(..)));
                (0..self.appliers.len()).map(|at| events[applied(at)]).collect()
            })
            .clone()
    }

    /// Returns whether Flux certainly applies an applier before another applier, regardless of needs.
    pub(crate) fn is_before(&self, one: usize, other: usize) -> bool {
        self.before(other).get(one) == Some(&true)
    }

    /// Returns whether an applier becomes ready only after another applier is applied, with all needs.
    pub(crate) fn is_ready_after(&self, one: usize, other: usize) -> bool {
        self.graph.reachable(ready(one), |edge| edge.label.is_of_cycle()).get(applied(other)) == Some(&true)
    }

    /// The events that never happen if some events do not: these events, and all events that certainly wait for them.
    pub(crate) fn blocked_by(&self, events: &[usize]) -> Vec<bool> {
        let is_open = |reason: &Reason| {
            matches!(
                reason,
                Reason::MayCreate
                    | Reason::DependsOn(_, Condition::Expression)
                    | Reason::Needs(_, _, Certainty::Likely)
            )
        };
        let mut after: Index<usize, Vec<usize>> = Index::default();
        for (from, edge) in self.graph.all_edges().filter(|(_, edge)| !is_open(&edge.label)) {
            after.entry(edge.to).push(from);
        }
        let mut blocked = vec![false; EVENTS * self.appliers.len() + self.releases.len()];
        let mut open = events.to_vec();
        while let Some(event) = open.pop() {
            if blocked.get(event) == Some(&false) {
                blocked[event] = true;
                open.extend(after.get(&event).into_iter().flatten());
            }
        }
        blocked
    }

    /// Returns a child that becomes ready only after its parent, the given applier.
    ///
    /// With such a child, the parent must not wait for its own objects.
    pub(crate) fn child_that_waits_for(&self, at: usize, is_child: impl Fn(usize) -> bool) -> Option<usize> {
        let waits = |child: &usize| self.graph.reachable(ready(*child), |_| true).get(ready(at)) == Some(&true);
        (0..self.appliers.len()).filter(|child| *child != at && is_child(*child)).find(waits)
    }

    /// The cycles, except cycles of `dependsOn` alone.
    pub(crate) fn cycles(&self) -> Vec<EventCycle> {
        // Without other edges, the parents form a tree.
        if self.graph.all_edges().all(|(_, edge)| matches!(edge.label, Reason::Applied | Reason::AppliedByParent)) {
            return Vec::new();
        }
        let mut is_reported = vec![false; EVENTS * self.appliers.len() + self.releases.len()];
        let dependencies =
            self.graph.cyclic_components(|edge| matches!(edge.label, Reason::Applied | Reason::DependsOn(..)));
        dependencies.iter().flatten().for_each(|event| is_reported[*event] = true);
        // A cycle without needs is a fault in any case. A cycle of needs through the same events is not reported again.
        let without_needs = self.graph.cyclic_components(|edge| {
            !is_reported[edge.to] && edge.label.is_of_cycle() && !matches!(edge.label, Reason::Needs(..))
        });
        without_needs.iter().flatten().for_each(|event| is_reported[*event] = true);
        let with_needs = self.graph.cyclic_components(|edge| !is_reported[edge.to] && edge.label.is_of_cycle());
        without_needs.into_iter().chain(with_needs).filter_map(|component| self.cycle(&component)).collect()
    }

    /// The shortest cycle of a component through its most informative edge.
    fn cycle(&self, component: &[usize]) -> Option<EventCycle> {
        let events: Index<usize, ()> = component.iter().map(|event| (*event, ())).collect();
        let steps = component.iter().flat_map(|from| self.graph.edges(*from).iter().enumerate().map(|at| (*from, at)));
        let inner = steps.filter(|(_, (_, edge))| events.contains(&edge.to) && edge.label.is_of_cycle());
        let rank = |reason: &Reason| match reason {
            Reason::Needs(..) => 0,
            Reason::HealthCheck(_) => 1,
            Reason::DependsOn(..) => 2,
            Reason::AppliedByParent | Reason::Applied | Reason::MayCreate => 3,
        };
        let (from, (at, first)) = inner.min_by_key(|(from, (_, edge))| (rank(&edge.label), *from, edge.to))?;
        let mut steps = vec![(from, at)];
        if first.to != from {
            steps.extend(
                self.graph
                    .shortest_path(first.to, from, |edge| events.contains(&edge.to) && edge.label.is_of_cycle())?,
            );
        }
        let step = |(from, at): (usize, usize)| {
            let edge = self.graph.edges(from).get(at)?;
            Some(CycleStep { from, to: edge.to, reason: edge.label.clone() })
        };
        let appliers = component.iter().map(|event| event / EVENTS).collect();
        let events = component.to_vec();
        Some(EventCycle { steps: steps.into_iter().filter_map(step).collect(), appliers, events })
    }

    /// The position of the applier of an event.
    pub(crate) fn position(&self, event: usize) -> Option<Span> {
        let applier = self.appliers.get(event / EVENTS)?;
        applier.object.as_ref().map(|object| own_position(applier, object.span()))
    }

    /// The applier or release of an event, as messages describe it.
    pub(crate) fn name(&self, event: usize) -> String {
        match self.appliers.get(event / EVENTS).filter(|_| event < EVENTS * self.appliers.len()) {
            Some(applier) => applier.reference.to_string(),
            None => self.releases[event - EVENTS * self.appliers.len()].reference().to_string(),
        }
    }
}

/// Returns whether an applier is the applier `above`, or is below it.
fn is_below(one: &Applier, above: usize) -> bool {
    one.at == above
        || std::iter::successors(one.parent_applier.as_ref(), |parent| parent.parent_applier.as_ref())
            .any(|parent| parent.at == above)
}

/// The number of events of an applier.
const EVENTS: usize = 3;

/// The event at which an applier starts, and applies its CRDs and Namespaces.
pub(crate) fn started(at: usize) -> usize {
    EVENTS * at
}

/// The event at which an applier has applied all its objects.
pub(crate) fn applied(at: usize) -> usize {
    EVENTS * at + 1
}

/// The event at which an applier becomes ready.
pub(crate) fn ready(at: usize) -> usize {
    EVENTS * at + 2
}

/// The position of `wait: true` in an applier, which waits for all objects that it applies.
pub(crate) fn wait_position(applier: &Applier) -> Option<Span> {
    let node = applier.object.as_ref()?.node.at_keys(&["spec", "wait"])?;
    let can_wait = matches!(applier.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
    (can_wait && flag(node) == Some(true)).then(|| own_position(applier, node.span()))
}

/// Returns whether an applier waits for an object that it applies.
pub(crate) fn waits_for(applier: &Applier, object: &Object) -> bool {
    let is_checked = |own: &Object| {
        health_checks(applier).any(|check| checked_object(check, own).settled() == ObjectId::of(object).settled())
    };
    wait_position(applier).is_some() || applier.object.as_ref().is_some_and(is_checked)
}

/// The health checks of a Kustomization.
fn health_checks(applier: &Applier) -> impl Iterator<Item = &Node> {
    let object = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization);
    object.and_then(|object| object.node.at_keys(&["spec", "healthChecks"])).map_or(&[][..], Node::items).iter()
}

/// The object that a health check references. The defaults are the group and the namespace of the Kustomization.
pub(crate) fn checked_object<'a>(check: &'a Node, kustomization: &'a Object) -> ObjectId<'a> {
    let text = |key: &str| text_of(check, key);
    let group = match text("apiVersion") {
        Some(version) => version.split_once('/').map_or("", |(group, _)| group),
        None => kustomization.group(),
    };
    let namespace = text("namespace").or(kustomization.namespace()).unwrap_or_default();
    ObjectId { group, kind: text("kind").unwrap_or_default(), namespace, name: text("name").unwrap_or_default() }
}

fn applied_object(applier: &Applier) -> Option<&Object> {
    applier.object.as_ref().filter(|_| applier.kind != ApplierKind::Bootstrap)
}
