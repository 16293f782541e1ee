mod needs;
mod absent_definitions;
mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, Label, Part, Severity};
use crate::flux::{Applied, Applier, ApplierKind, is_flux};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::inputs::Input;
use crate::lint::facts::own_position::own_position;
use crate::lint::findings::Findings;
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::order::apply_order::{ApplyOrder, Certainty, applied, ready, started, waits_for};
use crate::lint::order::chart_uses::{ChartUse, uses_of_charts};
use crate::lint::order::late_uses::LateUses;
use crate::lint::rule::{Check, declare};
use crate::lint::view::View;
use crate::text::folder_of;
use crate::yaml::Name;
use absent_definitions::absent_definitions;
use messages::{deadlock, earlier_than_several, own_inputs, too_early};
use needs::{Need, needs};

declare! {
    /// An object is applied before its dependencies, or never becomes ready.
    ///
    /// ## Why
    ///
    /// On a long-running cluster, all objects already exist, so a wrong order stays hidden. A new cluster, or a cluster
    /// that is restored after a disaster, starts empty. A Kustomization fails until the Namespace of each of its
    /// objects exists, and tries again after its `retryInterval` or `interval`. Some waits never end:
    ///
    /// - A parent waits for a child that depends on the parent.
    /// - A Kustomization contains custom resources, and one of its own children applies their CRD. While the API server
    ///   rejects an object of a Kustomization, Flux applies only its CRDs, Namespaces and ClusterRoles.
    /// - A Kustomization contains custom resources and the release of the chart that installs their CRDs.
    /// - A Kustomization applies its own source, or the ConfigMap with its own variables, or the ExternalSecret from which
    ///   an operator creates the Secret with its own variables.
    ///
    /// The severity is error if the wait certainly never ends. It is warning if the wait ends without a change. It is
    /// also warning if something unknown may end the wait: the objects of a chart or of a source without a local copy,
    /// the result of a `readyExpr`, or a Secret that a user creates by hand. If a Kustomization waits for pods whose
    /// Secret is applied later, the severity is pedantic, because the pods start as soon as the Secret exists.
    ///
    /// A Kustomization comes after the object that applies it, after its dependencies, and after the objects that these
    /// dependencies wait for. Within one Kustomization, Flux applies CRDs, Namespaces and ClusterRoles first. The rule
    /// ignores cycles that consist only of `dependsOn`, which [dependency-cycle](dependency-cycle.md) reports, and
    /// pairs of Kustomizations that [missing-dependency](missing-dependency.md) reports. It also ignores objects that
    /// another program of the repository may create before Flux starts: a script, a Taskfile, a helmfile, Ansible,
    /// Terraform, or Talos.
    ///
    /// ## How to fix it
    ///
    /// Add the Kustomization that applies the dependency to `dependsOn`. To break a cycle, remove `wait` from the
    /// parent, or move the dependency to another Kustomization.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: namespaces
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/namespaces
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/apps
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # namespaces/apps.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// # apps/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # sync.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: namespaces
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/namespaces
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: apps
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: namespaces
    ///   interval: 1h
    ///   path: ./clusters/example/apps
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources: [flux-system/gotk-sync.yaml, sync.yaml]
    /// # namespaces/apps.yaml
    /// apiVersion: v1
    /// kind: Namespace
    /// metadata:
    ///   name: apps
    /// # apps/settings.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: settings
    ///   namespace: apps
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies);
    /// stages in [fluxcd/pkg](https://github.com/fluxcd/pkg/blob/main/ssa/manager_apply.go)
    "bootstrap-order", Warning, "an object is applied before its dependencies, or never becomes ready",
    Check::Cluster(check),
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    found.extend(absent_definitions(RULE.id, view));
    let tree = ApplierTree::at_cold_start(view);
    let all_needs = needs(view, &tree);
    let refused = refused_bootstraps(view, &tree, &all_needs);
    let tree = tree.without_bootstraps_of(&refused);
    let mut order = ApplyOrder::new(view, &tree);
    let of_charts = uses_of_charts(view);
    found.extend(beside_their_chart(&of_charts, &tree));
    let appliers = &view.receiver.cluster.appliers;
    let mut open: BTreeMap<(usize, usize), Vec<Need<'_>>> = BTreeMap::new();
    for need in all_needs {
        let at = need.object.by.at;
        let is_before = need.providers.iter().any(|provider| order.is_before(*provider, at));
        if let Some(provider) = need.providers.first().filter(|_| !is_before) {
            open.entry((at, *provider)).or_default().push(need);
        }
    }
    for ((at, provider), needs) in &open {
        // If several appliers apply a dependency, it exists as soon as one of them is applied.
        for need in needs.iter().filter(|need| need.providers.len() == 1) {
            let is_gated = is_gated(appliers, *at, need);
            let event = if need.refused { applied(*at) } else { ready(*at) };
            if need.refused || is_gated {
                let what = format!("{} needs {}", need.object.object.reference(), need.what);
                let creation = if need.refused { started(*provider) } else { applied(*provider) };
                // `kubectl apply -k` goes on after an object that the API server rejects.
                let certainty = if refused.contains(at) { Certainty::Likely } else { Certainty::Certain };
                order.add_need(event, creation, (need.place.clone(), what), certainty);
            }
        }
    }
    add_charts_after(&of_charts, &tree, &mut order);
    found.extend(add_inputs(view, &tree, &mut order));
    let cycles = order.cycles();
    for cycle in &cycles {
        let is_certain = cycle.is_certain()
            && !may_end(view, &order, &cycle.events)
            && !cycle.appliers.iter().any(|at| is_of_unknown_root(view, *at));
        let severity = if is_certain { Severity::Error } else { Severity::Warning };
        found.extend(deadlock(RULE.id, &order, cycle, severity));
    }
    let mut cycles_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, cycle) in cycles.iter().enumerate() {
        cycle.appliers.iter().for_each(|at| cycles_of.entry(*at).or_default().push(number));
    }
    let follows = Followers::of(&open);
    let mut early: BTreeMap<usize, Vec<(usize, Vec<&Need<'_>>)>> = BTreeMap::new();
    let elsewhere = if open.is_empty() { LateUses::default() } else { LateUses::of(view) };
    for ((at, provider), needs) in &open {
        let of_one = |at: &usize| cycles_of.get(at).into_iter().flatten();
        let is_in_one_cycle = of_one(at).any(|cycle| of_one(provider).any(|other| other == cycle));
        if is_in_one_cycle || elsewhere.contains(*at, *provider) || follows.comes_later(view, &order, *at, *provider) {
            continue;
        }
        let is_after = order.is_before(*at, *provider);
        let (refused, others): (Vec<&Need<'_>>, Vec<&Need<'_>>) = needs.iter().partition(|need| need.refused);
        if !refused.is_empty() {
            if is_after {
                found.extend(too_early(RULE.id, view, *provider, &refused, is_after));
            } else {
                early.entry(*at).or_default().push((*provider, refused));
            }
            continue;
        }
        // The kubelet retries, so without a wait, the applier does not fail.
        let gated: Vec<&Need<'_>> = others.into_iter().filter(|need| is_gated(appliers, *at, need)).collect();
        found.extend(too_early(RULE.id, view, *provider, &gated, is_after));
    }
    for of_one in early.values() {
        found.extend(match of_one.as_slice() {
            [(provider, needs)] => too_early(RULE.id, view, *provider, needs, false),
            several => earlier_than_several(RULE.id, view, several),
        });
    }
}

/// The appliers whose objects the API server rejects until another applier starts, by that applier.
struct Followers {
    refused: BTreeMap<usize, Vec<usize>>,
    /// The namespaces that appliers need, by the two appliers.
    namespaces: BTreeSet<(usize, usize)>,
}

impl Followers {
    fn of(open: &BTreeMap<(usize, usize), Vec<Need<'_>>>) -> Self {
        let mut followers = Self { refused: BTreeMap::new(), namespaces: BTreeSet::new() };
        for ((at, provider), needs) in open.iter().filter(|(_, needs)| needs.iter().any(|need| need.refused)) {
            followers.refused.entry(*provider).or_default().push(*at);
            let own = |need: &Need<'_>| need.object.by.object.as_ref().and_then(|own| own.namespace().map(Name::from));
            let is_own = |need: &Need<'_>| own(need).is_some_and(|own| need.what == format!("namespace `{own}`"));
            if needs.iter().any(is_own) {
                followers.namespaces.insert((*at, *provider));
            }
        }
        followers
    }

    /// Returns whether an applier certainly comes after the start of another applier: its own object is in a namespace that
    /// the other one applies, or an applier before it needs an object of the other one. Flux applies all CRDs and
    /// Namespaces of an applier at its start.
    fn comes_later(&self, view: &View<'_>, order: &ApplyOrder<'_>, at: usize, provider: usize) -> bool {
        // The object of an applier for a remote cluster is on the cluster of Flux.
        let is_own = view.receiver.target.is_none() && self.namespaces.contains(&(at, provider));
        let before = order.before(at);
        let mut refused = self.refused.get(&provider).into_iter().flatten();
        is_own || refused.any(|one| *one != at && before.get(*one) == Some(&true))
    }
}

/// Returns whether a wait for events may end: `kubectl apply` goes on after an object that the API server rejects, and an
/// applier with unknown contents may apply the needed object. An applier that waits for the events does not.
fn may_end(view: &View<'_>, order: &ApplyOrder<'_>, events: &[usize]) -> bool {
    if view.uses_kubectl() {
        return true;
    }
    let mut unknown = view.unknown_sources().with_namespaces().peekable();
    if unknown.peek().is_none() {
        return false;
    }
    let blocked = order.blocked_by(events);
    unknown.any(|producer| producer.at.is_none_or(|at| blocked.get(started(at)) != Some(&true)))
}

/// Returns whether an applier is the root of a cluster whose bootstrap no file contains. The platform that bootstraps the
/// cluster may sync other directories, and may create namespaces first.
fn is_of_unknown_root(view: &View<'_>, at: usize) -> bool {
    let cluster = view.receiver.cluster;
    cluster.evidence.lacks_bootstrap && cluster.appliers.get(at).is_some_and(|applier| cluster.is_generated(applier))
}

/// The roots whose bootstrap fails in a cold start: the API server rejects an object of the directory of `gotk-sync.yaml`.
///
/// `flux bootstrap` applies CRDs and Namespaces, and then either all other objects of the directory or none.
///
/// Source: `Apply` in `internal/utils/apply.go` of flux2.
fn refused_bootstraps(view: &View<'_>, tree: &ApplierTree, needs: &[Need<'_>]) -> BTreeSet<usize> {
    let is_late = |provider: &usize| tree.lineage(*provider).any(|at| tree.is_of_bootstrap(at));
    let refuses = |need: &&Need<'_>| {
        let file = need.object.object.node.origin.written().file().path();
        need.refused
            && ApplierTree::folder_of_sync(view, need.object.by.at) == Some(folder_of(file))
            && need.providers.iter().all(is_late)
    };
    needs.iter().filter(refuses).map(|need| need.object.by.at).collect()
}

/// Returns whether the applier of an object becomes ready only after the object is ready.
fn is_gated(appliers: &[Arc<Applier>], at: usize, need: &Need<'_>) -> bool {
    let object = need.object.object;
    // A CronJob and a workload without pods are always ready.
    let has_pods = object.kind() != "CronJob" && object.text_at(&["spec", "replicas"]) != Some("0");
    has_pods && appliers.get(at).is_some_and(|applier| waits_for(applier, object))
}

/// Returns findings for custom resources that a Kustomization applies together with the chart that installs their CRDs.
///
/// The findings are warnings, since the program that bootstraps the cluster may have installed the CRDs.
fn beside_their_chart(uses: &[ChartUse<'_>], tree: &ApplierTree) -> Vec<Finding> {
    let mut findings: BTreeMap<(usize, usize), (Finding, usize, &'static str)> = BTreeMap::new();
    for ChartUse { user, charts } in uses {
        // Flux applies a child only after the API server serves the kinds of all objects of the parent.
        let is_below = |chart: &&Applied<'_>| tree.starts_after(chart.by.at, user.by.at);
        let Some(chart) = charts.iter().find(is_below) else { continue };
        if !charts.iter().all(|chart| is_below(&chart)) || makes_roots(user.by) {
            continue;
        }
        let key = (user.by.at, memory_address(chart.object));
        let (object, release) = (user.object.reference(), chart.object.reference());
        let place = user.by.place(user.object.node.get("kind").unwrap_or(&user.object.node).span());
        let part = Part { span: place.clone(), object: Some(object.clone()), fault: release.to_string() };
        if let Some((finding, count, _)) = findings.get_mut(&key) {
            finding.parts_mut().push(part);
            *count += 1;
            continue;
        }
        let (what, installer) = installer(chart.object);
        let applied = if chart.by.at == user.by.at {
            format!("the {what}")
        } else {
            format!("{}, which applies the {what}", chart.by.reference)
        };
        // Without the name of the applier, the findings of clusters with different names merge.
        let message = format!(
            "in a cold start, Flux may never apply {object}: it needs its CRD, which {installer} installs, and the \
             same Kustomization applies {applied}"
        );
        let finding = Finding::warning(RULE.id, Label::new(place, "needs its CRD"), message)
            .related(chart.by.place(chart.object.span()), format!("this {what} installs the CRD"))
            .about(object)
            .with_parts([part]);
        findings.insert(key, (finding, 1, what));
    }
    let help = |count: usize, what: &str| {
        let others = match count - 1 {
            0 => String::new(),
            1 => "; the same applies to objects of another kind".to_owned(),
            more => format!("; the same applies to objects of {more} other kinds"),
        };
        format!(
            "move the custom resources to a Kustomization that depends on the Kustomization of the {what}: Flux does \
             not apply a Kustomization with an object of an unknown kind, so Flux never applies the {what}{others}"
        )
    };
    findings.into_values().map(|(finding, count, what)| finding.help(help(count, what))).collect()
}

/// What installs a CRD, a release or a Crossplane provider, and its description.
fn installer(object: &Object) -> (&'static str, String) {
    if object.is(groups::HELM, "HelmRelease") {
        ("release", format!("the chart of {}", object.reference()))
    } else {
        ("provider", object.reference().to_string())
    }
}

/// Adds needs to the order for custom resources whose appliers come before all charts that install the CRDs.
fn add_charts_after(uses: &[ChartUse<'_>], tree: &ApplierTree, order: &mut ApplyOrder<'_>) {
    for ChartUse { user, charts } in uses.iter().filter(|one| !makes_roots(one.user.by)) {
        let at = user.by.at;
        let is_after = |chart: &Applied<'_>| {
            !tree.lineage(chart.by.at).any(|above| above == at) && order.is_before(at, chart.by.at)
        };
        let Some(chart) = charts.first().filter(|_| charts.iter().all(is_after)) else { continue };
        let what = format!("{} needs its CRD from {}", user.object.reference(), installer(chart.object).1);
        let place = user.object.node.get("kind").unwrap_or(&user.object.node);
        let need = (user.by.place(place.span()), what);
        order.add_need(applied(at), applied(chart.by.at), need, Certainty::Likely);
    }
}

/// Adds needs to the order for the inputs that Kustomizations and releases read from other appliers.
///
/// Returns the findings for appliers that apply their own inputs.
///
/// The function reports only waits that never end. `missing-dependency` reports inputs that are applied late.
fn add_inputs(view: &View<'_>, tree: &ApplierTree, order: &mut ApplyOrder<'_>) -> Vec<Finding> {
    let twice: BTreeSet<usize> = view.duplicates().map(|(first, _)| memory_address(first.object)).collect();
    // The user who applies a root by hand also applies the inputs of the root.
    let is_of_root =
        |input: &&Input<'_>| input.is_itself && input.by.parent_applier.as_ref().is_none_or(|by| makes_roots(by));
    let by_hand = view.inputs().iter().filter(is_of_root);
    let by_hand: BTreeSet<usize> = by_hand.map(|input| memory_address(input.thing.object)).collect();
    let mut own: BTreeMap<(usize, bool), Vec<&Input<'_>>> = BTreeMap::new();
    for input in view.inputs() {
        let Input { user, by, is_itself, node, target, thing } = input;
        let provider = thing.by.at;
        let is_above = || tree.is_ancestor(provider, by.at);
        // If several appliers apply an input, it exists as soon as one of them is applied.
        let is_earlier = |earlier: &BTreeSet<usize>| earlier.contains(&memory_address(thing.object));
        if is_above() || is_earlier(&twice) || is_earlier(&by_hand) || thing.by.is_suspended() {
            continue;
        }
        let what = || format!("{} needs {target}", user.reference());
        // Users often create Secrets by hand, such as the key of SOPS.
        let certainty = if target.kind == "Secret" { Certainty::Likely } else { Certainty::Certain };
        if !*is_itself {
            if provider != by.at && waits_for(by, user) && !view.is_input_before_flux(input) {
                order.add_need(ready(by.at), applied(provider), (by.place(node.span()), what()), certainty);
            }
        } else if view.is_input_before_flux(input) {
            // Another program may create the input first.
        } else if provider == by.at {
            own.entry((by.at, is_flux(thing.object))).or_default().push(input);
        } else {
            order.add_need(started(by.at), applied(provider), (own_position(by, node.span()), what()), certainty);
        }
    }
    let own = own.into_iter().filter_map(|((at, _), inputs)| {
        let may_end = may_end(view, order, &[started(at)]);
        own_inputs(RULE.id, &inputs, if may_end { Severity::Warning } else { Severity::Error })
    });
    own.collect()
}

/// Returns whether the Kustomizations that an applier applies are roots.
fn makes_roots(applier: &Applier) -> bool {
    matches!(applier.kind, ApplierKind::Bootstrap | ApplierKind::FluxInstance)
}
