use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::Finding;
use crate::flux::Applied;
use crate::kube::{Object, ObjectId};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::refs::dependency::{Condition, DEPENDENTS, dependencies};
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::Node;

declare! {
    /// Objects depend on a Kustomization that checks no health, so "ready" only means that it was applied.
    ///
    /// ## Why
    ///
    /// A Kustomization without `wait`, `healthChecks` and `healthCheckExprs` is ready as soon as the API server accepts
    /// its objects. Its dependents start before its controllers run: webhooks reject requests, custom resources are
    /// unknown, and the first installation fails and is retried with increasing delays. The fault is hidden on an
    /// existing cluster and appears when a new one is set up. The same is true for a ResourceSet without `wait`.
    ///
    /// The rule ignores a dependent that defines readiness with `readyExpr`. HelmReleases always wait.
    ///
    /// ## How to fix it
    ///
    /// Set `wait: true` and a `timeout`, or list the important objects in `healthChecks`.
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
    ///   timeout: 5m
    ///   wait: true
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
    /// [Flux: wait](https://fluxcd.io/flux/components/kustomize/kustomizations/#wait)
    "unready-dependency", Warning, "objects depend on an object that checks no health", Check::Cluster(check),
}

/// The number of dependents that a finding shows.
const MAX_SHOWN: usize = 3;

struct Awaited<'a> {
    applied: Applied<'a>,
    by: Vec<(Span, Applied<'a>)>,
    count: usize,
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut awaited: BTreeMap<ObjectId<'_>, Option<Awaited<'_>>> = BTreeMap::new();
    for (group, kind) in DEPENDENTS.into_iter().filter(|(_, kind)| *kind != "HelmRelease") {
        for applied in view.of_kind(group, kind) {
            for dependency in dependencies(applied.object).filter(|dependency| dependency.condition == Condition::Ready)
            {
                let wanted = dependency.target;
                if !matches!(wanted.kind, "Kustomization" | "ResourceSet") {
                    continue;
                }
                let known = awaited.entry(wanted).or_insert_with(|| {
                    let received = view.find(wanted.group, wanted.kind, wanted.namespace, wanted.name);
                    let unready = received.filter(is_unready);
                    unready.map(|applied| Awaited { applied, by: Vec::new(), count: 0 })
                });
                let Some(awaited) = known else { continue };
                awaited.count += 1;
                if awaited.by.len() < MAX_SHOWN {
                    awaited.by.push((applied.by.place(dependency.node.span()), applied));
                }
            }
        }
    }
    // Without a root, objects of one name may belong to different clusters.
    let twice = view.duplicates().filter(|_| !view.is_whole());
    let ambiguous: BTreeSet<ObjectId<'_>> = twice.filter_map(|(first, _)| identity(first.object)).collect();
    let unready = awaited.iter().filter(|(wanted, _)| !ambiguous.contains(wanted));
    found.extend(unready.filter_map(|(_, awaited)| awaited.as_ref()).map(finding));
}

fn identity(object: &Object) -> Option<ObjectId<'_>> {
    let namespace = object.namespace()?;
    Some(ObjectId { group: object.group(), kind: object.kind(), namespace, name: object.name() })
}

fn finding(awaited: &Awaited<'_>) -> Finding {
    let Awaited { applied, by, count } = awaited;
    let object = applied.object;
    let is_set = object.kind() == "ResourceSet";
    let checks = if is_set { "`wait`" } else { "`wait`, `healthChecks` or `healthCheckExprs`" };
    let message = format!("{} has dependents, but no {checks}", object.reference());
    let mut at = missing_in_spec(object, "wait");
    at.span = applied.by.place(&at.span);
    let summary = format!(" {}s have dependents, but no {checks}", object.kind());
    let mut finding = Finding::warning(RULE.id, at, message).about(object.reference());
    finding = finding.caused_by(object.kind(), "", summary);
    for (place, dependent) in by {
        finding = finding.related(place.clone(), format!("{} waits for it", dependent.object.reference()));
    }
    let others = count.saturating_sub(by.len());
    let more = if others > 0 { format!("; {others} more wait for it") } else { String::new() };
    finding.help(format!("set `wait: true`: without it, the object is ready as soon as it is applied{more}"))
}

/// Whether an object is ready as soon as it is applied. Unknown values, and missing fields of a fragment, may enable a
/// check.
fn is_unready(applied: &Applied<'_>) -> bool {
    let (object, completion) = (applied.object, applied.completion);
    let is_whole = ["sourceRef", "resources", "resourcesTemplate", "steps"]
        .iter()
        .any(|field| object.node.at_keys(&["spec", field]).is_some());
    let may_wait =
        object.node.at_keys(&["spec", "wait"]).is_some_and(|wait| !wait.is_null() && flag(wait) != Some(false));
    let has =
        |field: &str| object.node.at_keys(&["spec", field]).is_some_and(|list| !list.is_null() && !is_empty(list));
    let is_patched = ["wait", "healthCheck"].iter().any(|field| completion.mentions(field));
    is_whole && !may_wait && !has("healthChecks") && !has("healthCheckExprs") && !is_patched
}

fn is_empty(list: &Node) -> bool {
    list.is_seq() && list.items().is_empty()
}
