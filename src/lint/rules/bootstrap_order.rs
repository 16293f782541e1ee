use std::collections::{BTreeMap, BTreeSet};

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, ApplierKind, Brought, CONTROLLERS, DEFAULT_CONTROLLERS, Handling};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::inputs::Input;
use crate::lint::findings::Findings;
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::presence::on_cluster::Presence;
use crate::lint::rule::{Check, declare};
use crate::lint::order::apply_order::{ApplyOrder, CycleStep, EventCycle, Reason, applied, ready, waits_for};
use crate::lint::facts::own_position::own_position;
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

declare! {
    /// In a cold start, something is applied before what it needs, or waits for ever.
    ///
    /// ## Why
    ///
    /// On a cluster that has run for long, everything is there already, and the order in which it came is forgotten. A
    /// new cluster, or one that is brought up again after a disaster, starts from nothing. A Kustomization that applies
    /// an object whose Namespace or CRD another one brings fails until that one was there, and with `wait` a pod whose
    /// Secret comes later runs into the timeout. Some waits never end: a parent that waits for a child which depends on
    /// it, a Kustomization with custom resources whose CRD is brought by another one that it brings itself: Flux applies
    /// nothing of it as long as one object is refused. Or one that brings its own variables or its own source.
    ///
    /// Before a Kustomization comes what brought it, what it depends on, and what those wait for. Within one, Flux
    /// applies CRDs, Namespaces and ClusterRoles first. Silent about what charts bring, and about cycles of `dependsOn`
    /// alone, which are `dependency-cycle`.
    ///
    /// ## How to fix it
    ///
    /// Add the Kustomization that brings it to `dependsOn`. Of a cycle, break one step: let the parent not wait, or move
    /// what is needed out of what needs it.
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
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies);
    /// stages in [fluxcd/pkg](https://github.com/fluxcd/pkg/blob/main/ssa/manager_apply.go)
    "bootstrap-order", Warning, "in a cold start, something is applied before what it needs, or waits for ever",
    Check::Cluster(check),
}

/// Something that has to be there before an object.
struct Need<'a> {
    /// The object.
    object: Applied<'a>,
    /// The place that says so.
    place: Span,
    /// What is needed, in words.
    what: String,
    /// Whether the object is refused without it; otherwise it only does not become ready.
    refused: bool,
    /// The appliers that bring it.
    providers: Vec<usize>,
}

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    found.extend(absent_definitions(view));
    let tree = ApplierTree::at_cold_start(view);
    let mut order = ApplyOrder::new(view, &tree);
    let appliers = &view.receiver.cluster.appliers;
    let mut open: BTreeMap<(usize, usize), Vec<Need<'_>>> = BTreeMap::new();
    for need in needs(view, &tree) {
        let at = need.object.by.at;
        let is_before = need.providers.iter().any(|provider| order.is_before(*provider, at));
        if let Some(provider) = need.providers.first().filter(|_| !is_before) {
            open.entry((at, *provider)).or_default().push(need);
        }
    }
    for ((at, provider), needs) in &open {
        // What any of several brings is there as soon as one of them is.
        for need in needs.iter().filter(|need| need.providers.len() == 1) {
            let is_gated = appliers.get(*at).is_some_and(|applier| waits_for(applier, need.object.object));
            let event = if need.refused { applied(*at) } else { ready(*at) };
            if need.refused || is_gated {
                let what = format!("{} needs {}", need.object.object.reference(), need.what);
                order.add_need(event, *provider, need.place.clone(), what);
            }
        }
    }
    found.extend(take_inputs(view, &tree, &mut order));
    let cycles = order.cycles();
    found.extend(cycles.iter().filter_map(|cycle| deadlock(&order, cycle)));
    for ((at, provider), needs) in &open {
        let both = |cycle: &EventCycle| {
            let has = |at: usize| cycle.events.contains(&applied(at)) || cycle.events.contains(&ready(at));
            has(*at) && has(*provider)
        };
        if !cycles.iter().any(both) {
            let is_after = order.is_before(*at, *provider);
            found.extend(too_early(view, *provider, needs, is_after));
        }
    }
}

/// Notes what Kustomizations and releases take from what others bring. Of that only what never comes is told: another
/// rule finds what comes late. Gives the findings for what takes something of its own.
fn take_inputs(view: &View<'_>, tree: &ApplierTree, order: &mut ApplyOrder<'_>) -> Vec<Finding> {
    let twice: BTreeSet<usize> = view.duplicates().map(|(first, _)| memory_address(first.object)).collect();
    let mut findings = Vec::new();
    for Input { user, by, is_itself, node, thing } in view.inputs() {
        let provider = thing.by.at;
        let is_above = || tree.is_ancestor(provider, by.at);
        // What any of several brings is there as soon as one of them is.
        if is_above() || twice.contains(&memory_address(thing.object)) || thing.by.is_suspended() {
            continue;
        }
        let what = || format!("{} needs {}", user.reference(), thing.object.reference());
        if !*is_itself {
            if provider != by.at && waits_for(by, user) {
                order.add_need(ready(by.at), provider, by.place(node.span()), what());
            }
        } else if by.brought_by.as_ref().is_none_or(|parent| makes_roots(parent)) {
            // Whoever applies a root by hand applies what it needs.
        } else if provider == by.at {
            findings.push(own_input(by, node, thing));
        } else {
            order.add_need(applied(by.at), provider, own_position(by, node.span()), what());
        }
    }
    findings
}

/// Whether what an applier brings is a root.
fn makes_roots(applier: &Applier) -> bool {
    matches!(applier.kind, ApplierKind::Bootstrap | ApplierKind::FluxInstance)
}

/// What something waits for that only itself would bring.
fn own_input(by: &Applier, node: &Node, thing: &Applied<'_>) -> Finding {
    let wanted = thing.object.reference();
    let message = format!("in a cold start, {} waits for ever for {wanted}, which it brings itself", by.reference);
    let help = "let another Kustomization bring it, or the one that brings this one: Flux needs it before it applies anything";
    Finding::warning(RULE.id, Label::new(own_position(by, node.span()), "needs it first"), message)
        .related(thing.by.place(thing.object.span()), "brought here")
        .help(help)
        .about(by.reference.clone())
}

/// What objects need that neither their own applier brings nor one that brought it.
fn needs<'a>(view: &View<'a>, tree: &ApplierTree) -> Vec<Need<'a>> {
    let mut defined: Index<u64, Vec<usize>> = Index::default();
    let mut made: Index<Name, Vec<usize>> = Index::default();
    for (brought, listing) in &view.lists {
        let needs = listing.needs(&brought.objects);
        needs.defined_kinds.iter().for_each(|print| defined.entry(*print).push(brought.by.at));
        needs.namespaces.iter().for_each(|name| made.entry(name.clone()).push(brought.by.at));
    }
    let mut found = Vec::new();
    for (brought, listing) in view.by_flux().filter(|(brought, _)| !brought.by.is_suspended()) {
        let brought: &'a Brought = brought;
        let is_above = |provider: &usize| tree.applies(*provider, brought);
        let mut take = |at: usize, providers: &[usize], refused: bool, node: &dyn Fn(&'a Object) -> Option<&'a Node>, what: &dyn Fn() -> String| {
            if providers.is_empty() || providers.iter().any(is_above) {
                return;
            }
            let Some(object) = brought.at(at).filter(|object| object.handling() != Handling::Ignored) else { return };
            let span = node(object.object).map_or_else(|| object.object.span(), Node::span);
            let (place, providers) = (object.by.place(span), providers.to_vec());
            found.push(Need { object, place, what: what(), refused, providers });
        };
        let needs = listing.needs(&brought.objects);
        for (print, at) in &needs.custom_kinds {
            let providers = defined.get(print).map_or(&[][..], Vec::as_slice);
            take(*at, providers, true, &|object| object.node.get("kind"), &|| "its CRD".to_owned());
        }
        for (namespace, at) in &listing.namespaces {
            let providers = made.get(namespace).filter(|_| !view.has_namespace_without_applier(namespace));
            let node = |object: &'a Object| object.node.at_keys(&["metadata", "namespace"]);
            take(*at, providers.map_or(&[][..], Vec::as_slice), true, &node, &|| format!("namespace `{namespace}`"));
        }
        for (namespace, name, node, at) in &needs.secrets {
            let provider = provider_of_secret(view, namespace, name);
            let Some(object) = brought.at(*at).filter(|_| provider.is_some_and(|provider| !is_above(&provider))) else {
                continue;
            };
            let (place, what) = (object.by.place(node.span()), format!("Secret `{name}`"));
            found.push(Need { object, place, what, refused: false, providers: provider.into_iter().collect() });
        }
    }
    found
}

/// The applier that brings a Secret, or what makes it.
fn provider_of_secret(view: &View<'_>, namespace: &str, name: &str) -> Option<usize> {
    match view.presence("", "Secret", namespace, name) {
        Presence::Received(applied) => Some(applied.by.at),
        Presence::Produced(produced) => {
            let by = produced.by?;
            let group = by.api_version.split_once('/').map_or("", |(group, _)| group);
            let maker = view.find(group, &by.kind, by.namespace.as_deref().unwrap_or_default(), &by.name)?;
            Some(maker.by.at)
        }
        Presence::BuiltIn | Presence::Unknown(_) | Presence::Missing => None,
    }
}

fn too_early(view: &View<'_>, provider: usize, needs: &[Need<'_>], is_after: bool) -> Option<Finding> {
    let (first, rest) = needs.split_first()?;
    let provider = view.receiver.cluster.appliers.get(provider)?;
    let (object, user) = (first.object.object.reference(), &first.object.by);
    let more = match rest.len() {
        0 => String::new(),
        1 => ", and another object likewise".to_owned(),
        more => format!(", and {more} other objects likewise"),
    };
    let message = format!(
        "in a cold start, {} may apply {object} before {} is there, which {} brings{more}",
        user.reference, first.what, provider.reference
    );
    let consequence = if first.refused {
        "until it is there, Flux applies nothing of what goes with the object"
    } else {
        "until it is there, its pods do not start"
    };
    let (it, its_user) = (&provider.reference, &user.reference);
    let help = if is_after {
        format!("let {its_user} or what comes before it bring it, since {it} comes after {its_user}: {consequence}")
    } else {
        format!("add {it} to `dependsOn` of {its_user}: {consequence}")
    };
    let mut finding =
        Finding::warning(RULE.id, Label::new(first.place.clone(), format!("needs {}", first.what)), message)
            .help(help)
            .about(object);
    if let Some(own) = &user.object {
        finding = finding.related(own_position(user, own.span()), format!("{} does not wait for it", user.reference));
    }
    if let Some(own) = &provider.object {
        finding = finding.related(own_position(provider, own.span()), format!("{} brings it", provider.reference));
    }
    Some(finding)
}

fn deadlock(order: &ApplyOrder<'_>, cycle: &EventCycle) -> Option<Finding> {
    let (first, rest) = cycle.steps.split_first()?;
    let (waiting, wanted) = (order.name(first.from), order.name(first.to));
    let (place, message) = match &first.reason {
        Reason::Needs(place, what) => {
            (place.clone(), format!("in a cold start, {waiting} waits for ever: {what}, which {wanted} brings, and that waits for {waiting}"))
        }
        Reason::HealthCheck(place) | Reason::DependsOn(place) => {
            let message = if waiting == wanted {
                format!("{waiting} waits for ever for what it brings itself")
            } else {
                format!("{waiting} waits for ever for {wanted}, which waits for it in turn")
            };
            (place.clone(), message)
        }
        Reason::Applied | Reason::AppliedByParent => return None,
    };
    let help = "break one of the steps: let one not wait, or move what is needed out of what needs it";
    let mut finding = Finding::warning(RULE.id, Label::new(place, "waits here"), message).help(help);
    for CycleStep { from, to, reason } in rest {
        let (one, other) = (order.name(*from), order.name(*to));
        match reason {
            Reason::Needs(place, what) => finding = finding.related(place.clone(), format!("{what}, which {other} brings")),
            Reason::HealthCheck(place) => finding = finding.related(place.clone(), format!("{one} waits for {other}")),
            Reason::DependsOn(place) => finding = finding.related(place.clone(), format!("{one} depends on {other}")),
            Reason::AppliedByParent => {
                if let Some(place) = order.position(*from) {
                    finding = finding.related(place, format!("{other} brings {one}"));
                }
            }
            Reason::Applied => {}
        }
    }
    Some(finding)
}

/// What each ResourceSet waits for that the cluster's Flux does not install.
fn absent_definitions(view: &View<'_>) -> Vec<Finding> {
    let mut sets = view.of_kind(groups::FLUX_OPERATOR, "ResourceSet").peekable();
    if sets.peek().is_none() {
        return Vec::new();
    }
    let mut instances = view.of_kind(groups::FLUX_OPERATOR, "FluxInstance");
    let (Some(instance), None) = (instances.next(), instances.next()) else { return Vec::new() };
    let listed = instance.object.node.at_keys(&["spec", "components"]).filter(|list| !list.items().is_empty());
    let installs = |controller: &str| match listed {
        Some(list) => list.items().iter().any(|item| item.text() == Some(controller)),
        None => DEFAULT_CONTROLLERS.contains(&controller),
    };
    let mut findings = Vec::new();
    for set in sets {
        let depends = set.object.node.at_keys(&["spec", "dependsOn"]).map_or(&[][..], Node::items);
        for item in
            depends.iter().filter(|item| item.get("kind").and_then(Node::text) == Some("CustomResourceDefinition"))
        {
            let Some(node) = item.get("name") else { continue };
            let name = node.text().unwrap_or_default();
            let Some(controller) = controller_of(name).filter(|controller| !installs(controller)) else { continue };
            if view.find("apiextensions.k8s.io", "CustomResourceDefinition", "", name).is_some() {
                continue;
            }
            let place = set.by.place(node.span());
            let message = format!("{} waits for ever for CRD `{name}`", set.object.reference());
            let help =
                format!("add `{controller}` to the components of {}, which brings it", instance.object.reference());
            let list = listed.unwrap_or(&instance.object.node);
            let finding = Finding::warning(RULE.id, Label::new(place, "nothing installs it"), message)
                .related(instance.by.place(list.span()), format!("`{controller}` is not among these components"))
                .help(help)
                .about(set.object.reference());
            findings.push(finding);
        }
    }
    findings
}

/// The controller of Flux that a CRD comes with.
fn controller_of(name: &str) -> Option<&'static str> {
    let (plural, group) = name.split_once('.')?;
    let controller = match (group, plural) {
        (groups::IMAGE, "imageupdateautomations") => "image-automation-controller",
        (groups::IMAGE, _) => "image-reflector-controller",
        (groups::SOURCE_EXTENSIONS, _) => "source-watcher",
        _ => {
            let stem = group.strip_suffix(groups::TOOLKIT)?;
            return CONTROLLERS.into_iter().find(|controller| controller.strip_suffix("-controller") == Some(stem));
        }
    };
    Some(controller)
}
