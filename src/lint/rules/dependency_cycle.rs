use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Severity};
use crate::base::graph::{Edge, Graph};
use crate::flux::Applied;
use crate::kube::groups;
use crate::lint::findings::Findings;
use crate::lint::refs::dependency::{Condition, DEPENDENTS, Dependency, dependencies};
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;

declare! {
    /// `dependsOn` forms a cycle.
    ///
    /// ## Why
    ///
    /// The members of the cycle never become ready. For Kustomizations, the effect is larger. When their source has a
    /// new version, kustomize-controller sorts all Kustomizations of that source by their dependencies. The sort fails
    /// at a cycle, and the controller does not trigger any of these Kustomizations. Each Kustomization, inside or
    /// outside the cycle, then waits for its own interval, and only the log of the controller shows the error.
    ///
    /// Objects with the same name in different namespaces or on different clusters are different objects. The
    /// members of a cycle certainly never become ready if each member requires the next member to be ready. With a
    /// `readyExpr`, a member may require another condition, which can be true in a cycle. The sort does not read the
    /// expression and still fails, so the severity of such a cycle of Kustomizations is warning. The rule ignores such
    /// a cycle of HelmReleases or ResourceSets.
    ///
    /// ## How to fix it
    ///
    /// Remove one of the dependencies, or move the common dependency to a separate Kustomization.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [kustomize-controller#1712](https://github.com/fluxcd/kustomize-controller/issues/1712)
    "dependency-cycle", Error, "`dependsOn` forms a cycle", Check::Cluster(check),
}

/// The maximum number of members of a cycle that a finding shows.
const MAX_NAMED: usize = 8;

/// A cycle of members that depend on each other.
struct Cycle {
    members: Vec<usize>,
    /// Whether each member requires the next member to be ready. Otherwise, an expression may end the wait.
    is_certain: bool,
}

/// An object with its dependencies, each with the index of the member that the dependency references.
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
        // Without a root, objects with the same name may belong to different clusters.
        let all = dependencies(applied.object).filter(|_| is_known(&at));
        let counts = all.filter(|dependency| {
            let wanted = dependency.target;
            wanted.group == group
                && wanted.kind == kind
                && (group == groups::KUSTOMIZE || dependency.condition == Condition::Ready)
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

/// Returns one cycle for each group of members that wait for each other: the shortest cycle through the first member.
///
/// The result includes a group in which expressions may end the wait only if none of its members is in a certain cycle.
fn cycles(members: &[Member<'_>]) -> Vec<Cycle> {
    let mut graph: Graph<Condition> = Graph::new(members.len());
    for (from, member) in members.iter().enumerate() {
        member.waits.iter().for_each(|(dependency, to)| graph.add_edge(from, *to, dependency.condition));
    }
    let is_ready = |edge: &Edge<Condition>| edge.label == Condition::Ready;
    let certain = graph.cyclic_components(is_ready);
    let reported: BTreeSet<usize> = certain.iter().flatten().copied().collect();
    let mut possible = graph.cyclic_components(|_| true);
    possible.retain(|component| component.iter().all(|member| !reported.contains(member)));
    let shortest = |component: &Vec<usize>, is_certain: bool| {
        let first = *component.first()?;
        let path = graph.shortest_path(first, first, |edge| !is_certain || is_ready(edge))?;
        Some(Cycle { members: path.into_iter().map(|(member, _)| member).collect(), is_certain })
    };
    let certain = certain.iter().filter_map(|component| shortest(component, true));
    let possible = possible.iter().filter_map(|component| shortest(component, false));
    let mut cycles: Vec<Cycle> = certain.chain(possible).collect();
    cycles.sort_by(|a, b| a.members.cmp(&b.members));
    cycles
}

fn finding(Cycle { members: cycle, is_certain }: &Cycle, members: &[Member<'_>]) -> Finding {
    let edges = cycle.iter().zip(cycle.iter().cycle().skip(1));
    let mut steps = edges.filter_map(|(from, to)| {
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
        _ if *is_certain => format!("these {}s wait for each other: {}", reference.kind, names.join(" → ")),
        _ => format!("these {}s depend on each other: {}", reference.kind, names.join(" → ")),
    };
    let help = match first.object.group() {
        groups::KUSTOMIZE if !is_certain => {
            "remove one of the dependencies: new versions of the source no longer trigger any of its Kustomizations, \
             although each `readyExpr` may become true"
        }
        groups::KUSTOMIZE => {
            "remove one of the dependencies: no member of the cycle becomes ready, and new versions of the source no \
             longer trigger any of its Kustomizations"
        }
        _ => "remove one of the dependencies: no member of the cycle becomes ready",
    };
    let severity = if *is_certain { Severity::Error } else { Severity::Warning };
    let finding = Finding { severity, ..Finding::error(RULE.id, place, message).help(help).about(reference) };
    steps.take(MAX_NAMED).fold(finding, |finding, (member, place)| {
        finding.related(place, format!("{} depends on the next member of the cycle", member.object.reference()))
    })
}

fn name(applied: &Applied<'_>) -> String {
    format!("`{}/{}`", applied.object.namespace().unwrap_or_default(), applied.object.name())
}
