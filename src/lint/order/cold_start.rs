//! What has to happen before what when a cluster is brought up from nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use super::applier_tree::Descent;
use crate::flux::{Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::scope::settled_namespace;
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::Node;

/// What has to happen before what: each applier is applied once and ready once, a release is ready.
pub(crate) struct ColdStart<'a> {
    appliers: &'a [Arc<Applier>],
    releases: Vec<&'a Object>,
    edges: Vec<Vec<Edge>>,
}

/// One event that another one has to wait for.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    /// The event that comes first.
    pub(crate) to: usize,
    /// Why.
    pub(crate) why: Why,
}

/// Why an event has to wait for another one.
#[derive(Debug, Clone)]
pub(crate) enum Why {
    /// What is ready was applied before.
    Applied,
    /// What is applied was brought by something that was applied before: its place.
    AppliedSet,
    /// `dependsOn`, at its place.
    DependsOn(Span),
    /// `wait` or a health check, at its place.
    Waits(Span),
    /// It takes something that the other one brings: at the place of the object that does, with words for it.
    Needs(Span, String),
}

/// Events of which each has to wait for every other one.
pub(crate) struct Circle {
    /// The events.
    pub(crate) events: Index<usize, ()>,
    /// The shortest way round, the step to show first: what waits, and for what.
    pub(crate) steps: Vec<(usize, Edge)>,
}

/// Group, kind, namespace and name.
type Id<'a> = (&'a str, &'a str, &'a str, &'a str);

impl<'a> ColdStart<'a> {
    /// The order that appliers and releases of a cluster ask for.
    pub(crate) fn of(view: &View<'a>, descent: &Descent) -> Self {
        let appliers: &'a [Arc<Applier>] = &view.receiver.cluster.appliers;
        let mut by_id: Index<Id<'a>, usize> = Index::default();
        for applier in appliers {
            if let Some(object) = applier.object.as_ref().filter(|_| applier.kind != ApplierKind::Bootstrap) {
                by_id.insert(id(object), ready(applier.at));
            }
        }
        let mut owners: Vec<usize> = Vec::new();
        let mut releases: Vec<&'a Object> = Vec::new();
        // A release that waits for no other one is ready some time after it was applied.
        let linked = view.of_kind("helm.toolkit.fluxcd.io", "HelmRelease");
        let linked = linked.filter(|applied| !items(applied.object, "dependsOn").is_empty());
        for applied in linked {
            by_id.insert(id(applied.object), 2 * appliers.len() + releases.len());
            releases.push(applied.object);
            owners.push(applied.by.at);
        }
        let mut order = Self { appliers, edges: vec![Vec::new(); 2 * appliers.len() + releases.len()], releases };
        for applier in appliers {
            order.add_applier(applier, descent.parent(applier.at), &by_id, view);
        }
        for (at, owner) in owners.into_iter().enumerate() {
            let (event, object) = (2 * appliers.len() + at, order.releases[at]);
            order.edges[event].push(Edge { to: applied(owner), why: Why::Applied });
            order.add_dependencies(event, object, &by_id, view);
            if let Some(place) = waits(&appliers[owner]) {
                order.add(ready(owner), event, Why::Waits(place));
            }
        }
        order
    }

    fn add(&mut self, from: usize, to: usize, why: Why) {
        if let Some(edges) = self.edges.get_mut(from) {
            edges.push(Edge { to, why });
        }
    }

    fn add_applier(
        &mut self,
        applier: &'a Applier,
        parent: Option<usize>,
        by_id: &Index<Id<'a>, usize>,
        view: &View<'a>,
    ) {
        let at = applier.at;
        self.add(ready(at), applied(at), Why::Applied);
        if let Some(parent) = parent {
            let why = if applier.object.is_some() { Why::AppliedSet } else { Why::Applied };
            self.add(applied(at), applied(parent), why);
            if let Some(place) = self.appliers.get(parent).and_then(|parent| waits(parent)) {
                self.add(ready(parent), ready(at), Why::Waits(place));
            }
        }
        let Some(object) = applier.object.as_ref().filter(|_| applier.kind != ApplierKind::Bootstrap) else { return };
        self.add_dependencies(applied(at), object, by_id, view);
        // What is applied to another cluster is checked there.
        if waits(applier).is_some() || applier.target != view.receiver.target {
            return;
        }
        for check in checks(applier) {
            let wanted = named(check, object, "");
            // Of what is no applier, and no release that waits for others, it is known that somebody has to apply it.
            let brought = || view.find(wanted.0, wanted.1, wanted.2, wanted.3).map(|found| applied(found.by.at));
            let found = by_id.get(&wanted).copied().or_else(brought);
            if let Some(to) = found.filter(|to| *to != ready(at)) {
                self.add(ready(at), to, Why::Waits(own_place(applier, check.span())));
            }
        }
    }

    fn add_dependencies(&mut self, event: usize, object: &'a Object, by_id: &Index<Id<'a>, usize>, view: &View<'a>) {
        for item in items(object, "dependsOn") {
            let place = || Why::DependsOn(item.span().clone());
            let wanted = named(item, object, object.kind());
            // A ResourceSet may depend on anything; of what is not asked to be ready, it is enough that it is there.
            let is_there_enough = object.kind() == "ResourceSet"
                && item.get("ready").and_then(Node::text) != Some("true")
                && item.get("readyExpr").is_none();
            if let Some(to) = by_id.get(&wanted).filter(|_| !is_there_enough) {
                self.add(event, *to, place());
            } else if let Some(found) = view.find(wanted.0, wanted.1, wanted.2, wanted.3) {
                self.add(event, applied(found.by.at), place());
            }
        }
    }

    /// Notes that an applier takes something that another one brings: to be applied, or to be ready.
    pub(crate) fn need(&mut self, event: usize, provider: usize, place: Span, what: String) {
        self.add(event, applied(provider), Why::Needs(place, what));
    }

    /// What is surely applied before an applier is, as far as `dependsOn`, waiting and descent say it.
    pub(crate) fn before(&self, at: usize) -> Vec<bool> {
        let mut seen = vec![false; self.edges.len()];
        let mut open = vec![applied(at)];
        while let Some(event) = open.pop() {
            for edge in self.edges.get(event).map_or(&[][..], Vec::as_slice) {
                if !matches!(edge.why, Why::Needs(..)) && !std::mem::replace(&mut seen[edge.to], true) {
                    open.push(edge.to);
                }
            }
        }
        (0..self.appliers.len()).map(|at| seen[applied(at)]).collect()
    }

    /// Circles in which everything waits for ever. Circles of `dependsOn` alone are left out.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        let mut told = vec![false; self.edges.len()];
        // Who brings whom alone makes a tree.
        if self.edges.iter().flatten().all(|edge| matches!(edge.why, Why::Applied | Why::AppliedSet)) {
            return Vec::new();
        }
        let alone = components(&self.edges, |edge| matches!(edge.why, Why::Applied | Why::DependsOn(_)));
        alone.iter().flatten().for_each(|event| told[*event] = true);
        // A circle of waits is there whatever else is needed, and what is needed may lead through it.
        let hard = components(&self.edges, |edge| !told[edge.to] && !matches!(edge.why, Why::Needs(..)));
        hard.iter().flatten().for_each(|event| told[*event] = true);
        let soft = components(&self.edges, |edge| !told[edge.to]);
        let mut circles = Vec::new();
        for component in hard.into_iter().chain(soft) {
            let inside: Index<usize, ()> = component.iter().map(|event| (*event, ())).collect();
            let edges = component.iter().flat_map(|from| self.edges[*from].iter().map(move |edge| (*from, edge)));
            let inner = edges.filter(|(_, edge)| inside.contains(&edge.to));
            let rank = |edge: &Edge| match edge.why {
                Why::Needs(..) => 0,
                Why::Waits(_) => 1,
                Why::DependsOn(_) => 2,
                Why::AppliedSet | Why::Applied => 3,
            };
            let Some((from, first)) = inner.min_by_key(|(from, edge)| (rank(edge), *from, edge.to)) else { continue };
            let mut steps = vec![(from, first.clone())];
            steps.extend(self.path(first.to, from, &inside));
            circles.push(Circle { events: inside, steps });
        }
        circles
    }

    /// The shortest way between two events.
    fn path(&self, from: usize, to: usize, inside: &Index<usize, ()>) -> Vec<(usize, Edge)> {
        let mut came: Index<usize, (usize, Edge)> = Index::default();
        let mut open = VecDeque::from([from]);
        while let Some(event) = open.pop_front() {
            if event == to {
                break;
            }
            for edge in &self.edges[event] {
                if inside.contains(&edge.to) && edge.to != from && !came.contains(&edge.to) {
                    came.insert(edge.to, (event, edge.clone()));
                    open.push_back(edge.to);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let Some((before, edge)) = came.get(&at) else { break };
            path.push((*before, edge.clone()));
            at = *before;
        }
        path.reverse();
        path
    }

    /// The place of an applier that another one brings.
    pub(crate) fn place(&self, event: usize) -> Option<Span> {
        let applier = self.appliers.get(event / 2)?;
        applier.object.as_ref().map(|object| own_place(applier, object.span()))
    }

    /// What an event is about, in words.
    pub(crate) fn name(&self, event: usize) -> String {
        match self.appliers.get(event / 2).filter(|_| event < 2 * self.appliers.len()) {
            Some(applier) => applier.reference.to_string(),
            None => self.releases[event - 2 * self.appliers.len()].reference().to_string(),
        }
    }
}

/// The event that an applier is applied.
pub(crate) fn applied(at: usize) -> usize {
    2 * at
}

/// The event that an applier is ready.
pub(crate) fn ready(at: usize) -> usize {
    2 * at + 1
}

/// The health checks of a Kustomization.
pub(crate) fn checks(applier: &Applier) -> impl Iterator<Item = &Node> {
    let object = applier.object.as_ref().filter(|_| applier.kind == ApplierKind::Kustomization);
    object.map_or(&[][..], |object| items(object, "healthChecks")).iter()
}

/// Whether a health check of an applier names an object.
pub(crate) fn names(check: &Node, applier: &Applier, object: &Object) -> bool {
    let Some(own) = &applier.object else { return false };
    let settled = |(group, kind, namespace, name)| (group, kind, settled_namespace(group, kind, namespace), name);
    settled(named(check, own, "")) == settled(id(object))
}

/// The place at which an applier says that it waits for all that it applies.
pub(crate) fn waits(applier: &Applier) -> Option<Span> {
    let node = applier.object.as_ref()?.node.at_keys(&["spec", "wait"])?;
    let is_asked = matches!(applier.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet);
    (is_asked && node.text() == Some("true")).then(|| own_place(applier, node.span()))
}

/// A place in an applier's own object, as its cluster has it.
pub(crate) fn own_place(applier: &Applier, span: &Span) -> Span {
    applier.parent_applier.as_ref().map_or_else(|| span.clone(), |by| by.place(span))
}

fn items<'a>(object: &'a Object, field: &str) -> &'a [Node] {
    object.node.at_keys(&["spec", field]).map_or(&[][..], Node::items)
}

fn id(object: &Object) -> Id<'_> {
    (object.group(), object.kind(), object.namespace().unwrap_or_default(), object.name())
}

/// The identity that a reference names; one without kind is of the kind of the object that it stands in.
fn named<'a>(item: &'a Node, object: &'a Object, kind: &'a str) -> Id<'a> {
    let text = |key: &str| item.get(key).and_then(Node::text).filter(|text| !text.is_empty());
    let group = match text("apiVersion") {
        Some(version) => version.split_once('/').map_or("", |(group, _)| group),
        None => object.group(),
    };
    let namespace = text("namespace").or(object.namespace()).unwrap_or_default();
    (group, text("kind").unwrap_or(kind), namespace, text("name").unwrap_or_default())
}

/// The sets of events of which each leads to every other one, without those that are alone; along some edges only.
///
/// Source: Tarjan's algorithm, without recursion, since what a repository says may be as deep as it likes.
fn components(edges: &[Vec<Edge>], along: impl Fn(&Edge) -> bool) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut number, mut low, mut on_stack) = (vec![NEW; edges.len()], vec![0; edges.len()], vec![false; edges.len()]);
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for start in 0..edges.len() {
        if number[start] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((event, child)) = calls.pop() {
            if child == 0 {
                (number[event], low[event], on_stack[event]) = (next, next, true);
                next += 1;
                stack.push(event);
            }
            if let Some(edge) = edges[event].get(child) {
                calls.push((event, child + 1));
                if along(edge) && number[edge.to] == NEW {
                    calls.push((edge.to, 0));
                } else if along(edge) && on_stack[edge.to] {
                    low[event] = low[event].min(number[edge.to]);
                }
                continue;
            }
            if low[event] == number[event] {
                let mut component = Vec::new();
                while let Some(top) = stack.pop() {
                    on_stack[top] = false;
                    component.push(top);
                    if top == event {
                        break;
                    }
                }
                if component.len() > 1 {
                    component.sort_unstable();
                    found.push(component);
                }
            }
            if let Some((caller, _)) = calls.last() {
                low[*caller] = low[*caller].min(low[event]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)], count: usize) -> Vec<Vec<Edge>> {
        let mut graph = vec![Vec::new(); count];
        for (from, to) in edges {
            graph[*from].push(Edge { to: *to, why: Why::Applied });
        }
        graph
    }

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let chain = graph(&[(0, 1), (1, 2), (0, 2)], 3);
        assert!(components(&chain, |_| true).is_empty());
        let circles = graph(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 4), (1, 5)], 6);
        assert_eq!(components(&circles, |_| true), [vec![4, 5], vec![0, 1, 2]]);
        assert_eq!(components(&circles, |edge| edge.to != 0), [vec![4, 5]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<(usize, usize)> = (0..100_000).map(|at| (at, at + 1)).chain([(100_000, 0)]).collect();
        assert_eq!(components(&graph(&edges, 100_001), |_| true).len(), 1);
    }
}
