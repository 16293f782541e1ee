use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::base::graph::Graph;
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::refs::dependency::{Condition, DEPENDENTS, Dependency, dependencies};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `dependsOn` runs in a circle.
    ///
    /// ## Why
    ///
    /// None of the members is ever ready. For Kustomizations it is worse: when their source has a new version, kustomize-controller
    /// sorts all Kustomizations of that source by their dependencies, gives up at a circle, and triggers none of them. Each one
    /// then waits for its own interval, those outside of the circle too, and only the controller's log says so.
    ///
    /// Equal names in different namespaces or on different clusters are different things. Circles of HelmReleases and
    /// ResourceSets count where each member needs the next one to be ready: a `readyExpr` may say otherwise.
    ///
    /// ## How to fix it
    ///
    /// Take one of the dependencies away, or move what both sides need into a Kustomization of its own.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: database
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: shop
    ///   interval: 1h
    ///   path: ./database
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: database
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./database
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: database
    ///   interval: 1h
    ///   path: ./shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ```
    ///
    /// ## Source
    ///
    /// [kustomize-controller#1712](https://github.com/fluxcd/kustomize-controller/issues/1712)
    "dependency-cycle", Error, "`dependsOn` runs in a circle", Check::Cluster(check),
}

/// So many members of a circle are named.
const MAX_NAMED: usize = 8;

/// Something that waits, and its dependencies with the positions of what they name.
struct Member<'a> {
    applied: Applied<'a>,
    waits: Vec<(Dependency<'a>, usize)>,
}

fn check(view: &View<'_>, found: &mut Findings) {
    for (group, kind) in DEPENDENTS {
        if view.of_kind(group, kind).all(|applied| dependencies(applied.object).next().is_none()) {
            continue;
        }
        let members = members(view, group, kind);
        if members.iter().all(|member| member.waits.is_empty()) {
            continue;
        }
        found.extend(cycles(&members).iter().map(|cycle| finding(cycle, &members)));
    }
}

fn members<'a>(view: &View<'a>, group: &'static str, kind: &'static str) -> Vec<Member<'a>> {
    let mut by_name: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut ambiguous: BTreeSet<usize> = BTreeSet::new();
    let mut all = Vec::new();
    for applied in view.of_kind(group, kind) {
        let Some(namespace) = applied.object.namespace() else { continue };
        if let Some(first) = by_name.get(&(namespace, applied.object.name())) {
            ambiguous.insert(*first);
        } else {
            by_name.insert((namespace, applied.object.name()), all.len());
            all.push(applied);
        }
    }
    let is_known = |at: &usize| view.is_whole() || !ambiguous.contains(at);
    let waits = |at: usize, applied: &Applied<'a>| {
        // Without a root, objects of one name may belong to different clusters.
        let all = dependencies(applied.object).filter(|_| is_known(&at));
        let counts = all.filter(|dependency| {
            let wanted = dependency.target;
            wanted.group == group && wanted.kind == kind && (group == groups::KUSTOMIZE || dependency.condition == Condition::Ready)
        });
        counts
            .filter_map(|dependency| {
                let to = by_name.get(&(dependency.target.namespace, dependency.target.name)).copied();
                to.filter(is_known).map(|to| (dependency, to))
            })
            .collect()
    };
    let members = all.iter().enumerate().map(|(at, applied)| Member { applied: *applied, waits: waits(at, applied) });
    members.collect()
}

/// One cycle for each group of members that all wait for each other: the shortest from its first member.
fn cycles(members: &[Member<'_>]) -> Vec<Vec<usize>> {
    let mut graph = Graph::new(members.len());
    for (from, member) in members.iter().enumerate() {
        member.waits.iter().for_each(|(_, to)| graph.add_edge(from, *to, ()));
    }
    let components = graph.cyclic_components(|_| true).into_iter();
    let cycle = |component: Vec<usize>| {
        let first = *component.first()?;
        let path = graph.shortest_path(first, first, |_| true)?;
        Some(path.into_iter().map(|(member, _)| member).collect())
    };
    let mut cycles: Vec<Vec<usize>> = components.filter_map(cycle).collect();
    cycles.sort();
    cycles
}

fn finding(cycle: &[usize], members: &[Member<'_>]) -> Finding {
    let around = cycle.iter().zip(cycle.iter().cycle().skip(1));
    let mut steps = around.filter_map(|(from, to)| {
        let member = &members[*from];
        let (dependency, _) = member.waits.iter().find(|(_, next)| next == to)?;
        Some((member.applied, member.applied.by.place(dependency.node.span())))
    });
    let Some((first, place)) = steps.next() else { unreachable!("a cycle has a member") };
    let reference = first.object.reference();
    let shown = cycle.iter().take(MAX_NAMED).chain(cycle.first());
    let mut names: Vec<String> = shown.map(|at| name(&members[*at].applied)).collect();
    if cycle.len() > MAX_NAMED {
        names.insert(MAX_NAMED, "…".into());
    }
    let message = match cycle.len() {
        1 => format!("{reference} depends on itself"),
        _ => format!("these {}s wait for each other: {}", reference.kind, names.join(" → ")),
    };
    let help = match first.object.group() {
        groups::KUSTOMIZE => {
            "take one of the dependencies away: none of them becomes ready, and Flux stops reacting to new \
                      versions for every Kustomization of their source"
        }
        _ => "take one of the dependencies away: none of them becomes ready",
    };
    let finding = Finding::error(RULE.id, place, message).help(help).about(reference);
    steps.take(MAX_NAMED).fold(finding, |finding, (member, place)| {
        finding.related(place, format!("{} waits for the next one", member.object.reference()))
    })
}

fn name(applied: &Applied<'_>) -> String {
    format!("`{}/{}`", applied.object.namespace().unwrap_or_default(), applied.object.name())
}
