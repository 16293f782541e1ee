mod health;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label, Safety};
use crate::flux::{Applied, Applier};
use crate::kube::{Object, ObjectId};
use crate::lint::fields::flag;
use crate::lint::findings::Findings;
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::order::apply_order::{ApplyOrder, checked_object};
use crate::lint::refs::dependency::{Condition, DEPENDENTS, dependencies};
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::Node;
use crate::yaml::fix;
use health::{Contents, Health};

declare! {
    /// Objects depend on a Kustomization without health checks, which is ready as soon as Flux applies it.
    ///
    /// ## Why
    ///
    /// A Kustomization without `wait` and `healthChecks` is ready as soon as the API server accepts its objects. Its
    /// dependents start before its controllers run. Webhooks reject requests, custom resources are unknown, and the
    /// first installation fails, with retries after increasing delays. The fault is hidden on an existing cluster and
    /// appears on a new cluster. The same is true for a ResourceSet without `wait`. `healthCheckExprs` define the
    /// health of a kind. Without `wait` and `healthChecks`, they have no effect.
    ///
    /// The same is true if `healthChecks` list only objects of other Kustomizations, such as the objects of the
    /// previous stage.
    ///
    /// The rule ignores a dependent that defines readiness with `readyExpr`. It ignores a dependent that the
    /// Kustomization itself applies, directly or indirectly: the Kustomization comes first in any case, and with
    /// `wait`, the two would wait for each other. It ignores HelmReleases, which always wait.
    ///
    /// It also ignores a Kustomization without objects that become healthy later: Flux always waits for CRDs, and a
    /// ConfigMap is healthy as soon as it exists. The same is true for a custom resource whose status has no
    /// conditions. Sources of Flux do not count, since the objects that use a source wait for it themselves. A
    /// PersistentVolumeClaim does not count if its volume waits for the first pod and another applier applies the pod.
    ///
    /// ## How to fix it
    ///
    /// Set `wait: true` and a `timeout`, or list the important objects in `healthChecks`. If the Kustomization applies
    /// other appliers that depend on it, or PersistentVolumeClaims for the pods of other appliers, use `healthChecks`.
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
    /// ## Versions
    ///
    /// Since Flux 2.0, until now. `healthCheckExprs` exists from Flux 2.5 on, and `readyExpr` from Flux 2.7 on.
    ///
    /// ## Source
    ///
    /// [Flux: wait](https://fluxcd.io/flux/components/kustomize/kustomizations/#wait)
    "unready-dependency", Warning, "objects depend on an object without health checks", Check::Cluster(check),
    fixes: [Unsafe],
}

/// The number of dependents that a finding shows.
const MAX_SHOWN: usize = 3;

struct Awaited<'a> {
    applied: Applied<'a>,
    health: Health,
    by: Vec<(Span, Applied<'a>)>,
    count: usize,
}

fn check(view: &View<'_>, found: &mut Findings) {
    let mut awaited: BTreeMap<ObjectId<'_>, Option<Awaited<'_>>> = BTreeMap::new();
    let own_appliers: OnceCell<OwnAppliers<'_>> = OnceCell::new();
    let own_appliers = || own_appliers.get_or_init(|| OwnAppliers::of(view));
    let contents = Contents::of_view(view);
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
                    let checks_others = |applied: &Applied<'_>| {
                        let is_patched = applied.completion.mentions("healthChecks");
                        !is_patched && checks_only_others(view, applied.object, own_appliers())
                    };
                    let received = received.filter(may_be_unready);
                    let unready = received.filter(|applied| !has_checks(applied.object) || checks_others(applied));
                    let (applied, health) = unready.map(|applied| (applied, contents.health(applied.object)))?;
                    health.is_awaited.then_some(Awaited { applied, health, by: Vec::new(), count: 0 })
                });
                let Some(awaited) = known else { continue };
                if own_appliers().applies(awaited.applied.object, &applied) {
                    continue;
                }
                awaited.count += 1;
                if awaited.by.len() < MAX_SHOWN {
                    awaited.by.push((applied.by.place(dependency.node.span()), applied));
                }
            }
        }
    }
    // Without a root, objects with the same name may belong to different clusters.
    let twice = view.duplicates().filter(|_| !view.is_whole());
    let ambiguous: BTreeSet<ObjectId<'_>> = twice.filter_map(|(first, _)| identity(first.object)).collect();
    let unready = awaited.iter().filter(|(wanted, _)| !ambiguous.contains(wanted));
    let unready = unready.filter_map(|(_, awaited)| awaited.as_ref()).filter(|awaited| awaited.count > 0);
    found.extend(unready.map(|awaited| finding(awaited, own_appliers().child_that_waits_for(awaited.applied.object))));
}

/// The appliers of a cluster by their objects, with the applier tree and the apply order.
struct OwnAppliers<'a> {
    positions: Index<ObjectId<'a>, usize>,
    /// The further appliers of the objects that several appliers apply.
    others: Index<ObjectId<'a>, Vec<usize>>,
    appliers: &'a [std::sync::Arc<Applier>],
    tree: ApplierTree,
    order: ApplyOrder<'a>,
}

impl<'a> OwnAppliers<'a> {
    fn of(view: &View<'a>) -> Self {
        let appliers = &view.receiver.cluster.appliers;
        let objects = appliers.iter().filter_map(|applier| Some((applier.object.as_ref()?, applier.at)));
        let positions = objects.filter_map(|(object, at)| Some((identity(object)?, at))).collect();
        let tree = ApplierTree::when_running(view);
        let mut others: Index<ObjectId<'a>, Vec<usize>> = Index::default();
        for (first, further) in view.duplicates() {
            let id = ObjectId::of(first.object).settled();
            if id == ObjectId::of(further.object).settled() {
                others.entry(id).push(further.by.at);
            }
        }
        Self { positions, others, appliers, order: ApplyOrder::new(view, &tree), tree }
    }

    fn position(&self, object: &Object) -> Option<usize> {
        self.positions.get(&identity(object)?).copied()
    }

    /// Returns whether one of the appliers of an object is the applier that `own` defines, or a descendant of it.
    fn applies(&self, own: &Object, applied: &Applied<'_>) -> bool {
        let further = self.others.get(&ObjectId::of(applied.object).settled()).into_iter().flatten();
        self.is_below(own, applied.by.at) || further.into_iter().any(|by| self.is_below(own, *by))
    }

    /// Returns whether an applier is the applier that an object defines, or a descendant of it.
    fn is_below(&self, own: &Object, by: usize) -> bool {
        self.position(own).is_some_and(|at| at == by || self.tree.is_ancestor(at, by))
    }

    /// A child of the applier that an object defines, if the child becomes ready only after that applier.
    fn child_that_waits_for(&self, object: &Object) -> Option<&'a Applier> {
        let at = self.position(object)?;
        let is_further = |child: &Applier| {
            let own = child.object.as_ref().map(|own| ObjectId::of(own).settled());
            own.and_then(|own| self.others.get(&own)).is_some_and(|by| by.contains(&at))
        };
        let is_child = |child: usize| {
            self.tree.parent(child) == Some(at) || self.appliers.get(child).is_some_and(|child| is_further(child))
        };
        let child = self.order.child_that_waits_for(at, is_child)?;
        self.appliers.get(child).map(|child| &**child)
    }
}

fn identity(object: &Object) -> Option<ObjectId<'_>> {
    let namespace = object.namespace()?;
    Some(ObjectId { group: object.group(), kind: object.kind(), namespace, name: object.name() })
}

fn finding(awaited: &Awaited<'_>, child: Option<&Applier>) -> Finding {
    let Awaited { applied, health, by, count } = awaited;
    let object = applied.object;
    let is_set = object.kind() == "ResourceSet";
    let spec = object.node.get("spec");
    let disabled = spec.and_then(|spec| spec.entry("wait")).filter(|entry| flag(&entry.node) == Some(false));
    let others = if is_set { "" } else { " and no `healthChecks`" };
    let has_checks = has_checks(object);
    let message = match disabled {
        _ if has_checks => format!(
            "{} has dependents, but its `healthChecks` list only objects of other Kustomizations",
            object.reference()
        ),
        Some(_) => format!("{} has dependents, but `wait: false`{others}", object.reference()),
        None if is_set => format!("{} has dependents, but no `wait`", object.reference()),
        None => format!("{} has dependents, but no `wait` or `healthChecks`", object.reference()),
    };
    let mut at = match disabled {
        Some(entry) => Label::new(entry.node.span().clone(), "ready as soon as it is applied"),
        None => missing_in_spec(object, "wait"),
    };
    at.span = applied.by.place(&at.span);
    let summary = match (disabled, is_set) {
        _ if has_checks => format!(
            " {}s have dependents, but their `healthChecks` list only objects of other Kustomizations",
            object.kind()
        ),
        (Some(_), _) => format!(" {}s have dependents, but `wait: false`{others}", object.kind()),
        (None, true) => format!(" {}s have dependents, but no `wait`", object.kind()),
        (None, false) => format!(" {}s have dependents, but no `wait` or `healthChecks`", object.kind()),
    };
    let mut finding = Finding::warning(RULE.id, at, message).about(object.reference());
    let has_claims = child.is_none() && health.waits_for_pods;
    let key = format!("{} {} {} {has_checks} {has_claims}", object.kind(), disabled.is_some(), child.is_some());
    finding = finding.caused_by(key, "", summary);
    for (place, dependent) in by {
        let label = format!("{} waits for this {}", dependent.object.reference(), object.kind());
        finding = finding.related(place.clone(), label);
    }
    if let Some(expressions) = spec.and_then(|spec| spec.entry("healthCheckExprs")) {
        let place = applied.by.place(&expressions.key_span());
        finding =
            finding.related(place, "`healthCheckExprs` define the health of a kind, but have no effect without checks");
    }
    if child.is_none() && !has_claims && !has_checks {
        let fix =
            spec.and_then(|spec| fix::set(spec, "wait", "true", &["prune", "interval", "timeout"], Safety::Unsafe));
        finding = finding.fixed_at(fix, |span| applied.by.place(span));
    }
    let others = count.saturating_sub(by.len());
    let kind = object.kind();
    let more = match others {
        0 => String::new(),
        1 => format!("; one more object waits for this {kind}"),
        _ => format!("; {others} more objects wait for this {kind}"),
    };
    let consequence = format!("otherwise, a {kind} is ready as soon as Flux applies it");
    let claims = "a PersistentVolumeClaim would wait for the pods of other appliers";
    finding = match child {
        None if has_claims => finding.help_for_all(format!(
            "list the important objects in `healthChecks` of each {kind}: {consequence}; with `wait: true`, {claims}"
        )),
        Some(_) if is_set => finding.help_for_all(
            "let the dependents depend on the objects that they need: with `wait: true`, each ResourceSet would wait for \
             an applier that waits for the ResourceSet",
        ),
        Some(_) => finding.help_for_all(format!(
            "list the important objects in `healthChecks` of each {kind}: {consequence}; with `wait: true`, each {kind} \
             would wait for an applier that waits for the {kind}"
        )),
        None => finding.help_for_all(format!("set `wait: true`: {consequence}")),
    };
    finding.help(match child {
        None if has_claims => format!(
            "list the important objects in `healthChecks`: {consequence}; with `wait: true`, {claims}{more}"
        ),
        Some(child) if is_set => format!(
            "let the dependents depend on the objects that they need: with `wait: true`, this ResourceSet would wait for \
             {}, which waits for the ResourceSet{more}",
            child.reference
        ),
        Some(child) => format!(
            "list the important objects in `healthChecks`: {consequence}; with `wait: true`, this {kind} would wait for \
             {}, which waits for the {kind}{more}",
            child.reference
        ),
        None => format!("set `wait: true`: {consequence}{more}"),
    })
}

/// Returns whether an object may be ready as soon as Flux applies it.
///
/// Unknown values, and the missing fields of an incomplete object, may enable a check.
fn may_be_unready(applied: &Applied<'_>) -> bool {
    let (object, completion) = (applied.object, applied.completion);
    let is_whole = ["sourceRef", "resources", "resourcesTemplate", "steps"]
        .iter()
        .any(|field| object.node.at_keys(&["spec", field]).is_some());
    let may_wait =
        object.node.at_keys(&["spec", "wait"]).is_some_and(|wait| !wait.is_null() && flag(wait) != Some(false));
    let is_patched = ["wait", "healthChecks"].iter().any(|field| completion.mentions(field));
    is_whole && !may_wait && !is_patched
}

fn has_checks(object: &Object) -> bool {
    let checks = object.node.at_keys(&["spec", "healthChecks"]);
    checks.is_some_and(|list| !list.is_null() && !is_empty(list))
}

/// Returns whether all health checks of a Kustomization reference objects that other appliers certainly apply.
fn checks_only_others(view: &View<'_>, kustomization: &Object, appliers: &OwnAppliers<'_>) -> bool {
    let checks = kustomization.node.at_keys(&["spec", "healthChecks"]).map_or(&[][..], Node::items);
    // Several Kustomizations may apply one object.
    let is_of_another = |check: &Node| {
        let checked = checked_object(check, kustomization);
        view.get(checked).is_some_and(|found| !appliers.applies(kustomization, &found))
    };
    view.is_whole() && !checks.is_empty() && checks.iter().all(is_of_another)
}

fn is_empty(list: &Node) -> bool {
    list.is_seq() && list.items().is_empty()
}
