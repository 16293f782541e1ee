use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::finding::{Finding, Label, Part};
use crate::flux::{Applier, ApplierKind};
use crate::kube::{Object, groups};
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::own_position::own_position;
use crate::lint::findings::Findings;
use crate::lint::order::late_uses::{Effect, LateUse, LateUses};
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::yaml::Entry;

declare! {
    /// A Kustomization uses an object that only another Kustomization applies, without depending on that Kustomization.
    ///
    /// ## Why
    ///
    /// On a running cluster, all objects already exist. On a new cluster, the order is random. The API server rejects
    /// custom resources until their CRD exists, and Flux does not apply a Kustomization with a rejected object. A
    /// HelmRelease fails and retries until its source and values exist. With `wait: true`, the Kustomization waits for
    /// it, and fails if this takes longer than its timeout.
    ///
    /// The rule checks sources, CRDs, and the ConfigMaps and Secrets that contain values. It has a list of the API
    /// groups of the CRDs that well-known charts install. The rule accepts direct and transitive dependencies. It also
    /// accepts the dependencies of the Kustomizations above the consumer, and the objects that those Kustomizations
    /// apply. The rule does not report two objects that one Kustomization applies, or a provider that the consumer
    /// applies, since `dependsOn` cannot order them. If two Kustomizations wait for each other,
    /// [bootstrap-order](bootstrap-order.md) reports them. A provider that waits for a consumer is not reported if the
    /// consumer becomes ready without it: the provider comes next, and the objects that use it retry. The rule reports
    /// one finding for the providers of the same consumers, and one finding for more than three consumers of one
    /// provider. It ignores children if their parent also uses the provider. It ignores the CRDs of
    /// Cilium and Calico, since Flux starts only after the pod network works. It also ignores objects that other
    /// programs of the repository may create before Flux starts, such as a script, a Taskfile or a helmfile.
    ///
    /// ## How to fix it
    ///
    /// Add the provider to `dependsOn`, and set `wait: true` in the provider.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # sources.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: sources
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/sources
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
    ///   interval: 1h
    ///   path: ./clusters/example/shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - sources.yaml
    /// # sources/charts.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://charts.example.com
    /// # shop/shop.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   chart:
    ///     spec:
    ///       chart: shop
    ///       sourceRef:
    ///         kind: HelmRepository
    ///         name: charts
    ///   interval: 1h
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// # sources.yaml
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: sources
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   path: ./clusters/example/sources
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    ///   wait: true
    /// ---
    /// apiVersion: kustomize.toolkit.fluxcd.io/v1
    /// kind: Kustomization
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   dependsOn:
    ///     - name: sources
    ///   interval: 1h
    ///   path: ./clusters/example/shop
    ///   prune: true
    ///   sourceRef:
    ///     kind: GitRepository
    ///     name: flux-system
    /// # kustomization.yaml
    /// apiVersion: kustomize.config.k8s.io/v1beta1
    /// kind: Kustomization
    /// resources:
    ///   - sources.yaml
    /// # sources/charts.yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: HelmRepository
    /// metadata:
    ///   name: charts
    ///   namespace: flux-system
    /// spec:
    ///   interval: 1h
    ///   url: https://charts.example.com
    /// # shop/shop.yaml
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: shop
    ///   namespace: flux-system
    /// spec:
    ///   chart:
    ///     spec:
    ///       chart: shop
    ///       sourceRef:
    ///         kind: HelmRepository
    ///         name: charts
    ///   interval: 1h
    /// ```
    ///
    /// ## Versions
    ///
    /// Since Flux 2.0, until now.
    ///
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies)
    "missing-dependency", Warning, "a Kustomization uses an object of another Kustomization and does not depend on it",
    Check::Cluster(check),
}

/// The maximum number of consumers of one Kustomization with separate findings. More consumers have one common finding.
const MAX_SEPARATE: usize = 3;

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let mut groups: BTreeMap<(Option<usize>, usize), Vec<LateUse<'_>>> = BTreeMap::new();
    let uses: Vec<LateUse<'_>> = LateUses::of(view).into_uses().collect();
    let pairs = uses.iter().filter(|one| !one.is_late).map(|one| ((one.by.at, one.thing.by.at), 0));
    let mut followers: BTreeMap<(usize, usize), usize> = pairs.collect();
    for one in uses {
        // A child comes after its parent, so a dependency of the parent also delays the child.
        let above = std::iter::successors(one.by.parent_applier.as_ref(), |above| above.parent_applier.as_ref());
        let parent = above.map(|above| (above.at, one.thing.by.at)).filter(|pair| followers.contains_key(pair)).last();
        if let Some(count) = parent.and_then(|pair| followers.get_mut(&pair)) {
            *count += 1;
            continue;
        }
        groups.entry((one.above.map(|above| above.at), one.thing.by.at)).or_default().push(one);
    }
    // The providers of the same consumers, by these consumers.
    let mut separate: BTreeMap<Vec<usize>, Vec<&LateUse<'_>>> = BTreeMap::new();
    for uses in groups.values() {
        match uses.first().and_then(|first| first.above).filter(|_| uses.len() > MAX_SEPARATE) {
            Some(above) => found.extend(finding_at_parent(above, uses)),
            None if uses.len() > MAX_SEPARATE => found.extend(finding_of_all(uses)),
            None => separate.entry(uses.iter().map(|one| one.by.at).collect()).or_default().extend(uses),
        }
    }
    let followers = |one: &LateUse<'_>| followers.get(&(one.by.at, one.thing.by.at)).copied().unwrap_or(0);
    for (consumers, uses) in &separate {
        if uses.len() == consumers.len() || uses.iter().any(|one| one.is_late) {
            found.extend(uses.iter().filter_map(|one| finding(one, followers(one))));
            continue;
        }
        // One change of `dependsOn` corrects all uses of a consumer.
        for consumer in consumers {
            let own: Vec<&LateUse<'_>> = uses.iter().copied().filter(|one| one.by.at == *consumer).collect();
            found.extend(finding_of_consumer(&own));
        }
    }
}

/// Returns the finding for one consumer of several providers.
fn finding_of_consumer(uses: &[&LateUse<'_>]) -> Option<Finding> {
    let first = uses.first()?;
    let (by, consumer) = (first.by, first.by.object.as_ref()?);
    let is_plain = uses.iter().all(|one| one.thing.by.kind == ApplierKind::Kustomization);
    let kinds = if is_plain { "Kustomizations" } else { "objects" };
    let message = format!("{} uses objects of {} other {kinds} and does not depend on them", by.reference, uses.len());
    let wanted: Vec<String> = uses.iter().map(|one| in_words(one.thing.by, consumer)).collect();
    let wanted = wanted.join(", ");
    let (effect, effects) = match uses.iter().map(|one| one.effect).max()? {
        Effect::UsersFail => ("the objects that use them fail".to_owned(), "the objects that use them fail"),
        Effect::Waits => (format!("{} waits", by.reference), "they wait"),
        Effect::Fails => (format!("{} fails", by.reference), "they fail"),
    };
    let help =
        format!("add {wanted} to `dependsOn`: on a new cluster Flux may apply them later, and {effect} until then");
    let place = place_in(by, consumer);
    let parts = uses.iter().map(|one| Part {
        span: place.span.clone(),
        object: Some(by.reference.clone()),
        fault: one.thing.by.reference.to_string(),
    });
    let finding = Finding::warning(RULE.id, place.clone(), message).help(help).about(by.reference.clone());
    let finding = finding.with_parts(parts).caused_by(
        format!("several {wanted}"),
        "",
        format!(" appliers use objects of {} other {kinds} and do not depend on them", uses.len()),
    );
    let finding = finding.help_for_all(format!(
        "add {wanted} to `dependsOn` of each of these appliers: on a new cluster Flux may apply them later, and {effects} \
         until then"
    ));
    let label = |one: &&LateUse<'_>| {
        let (object, provider) = (one.thing.object.reference(), &one.thing.by.reference);
        (one.at.clone(), format!("uses {}{object} of {provider}", chart_of_release(one.thing.object)))
    };
    Some(uses.iter().map(label).fold(finding, |finding, (place, label)| finding.related(place, label)))
}

/// Returns the finding for one consumer. `followers` is the number of appliers below it that also use the provider.
fn finding(one: &LateUse<'_>, followers: usize) -> Option<Finding> {
    let LateUse { by, thing, custom_resource, at, is_late, .. } = one;
    let consumer = by.object.as_ref()?;
    let (used, provider) = (thing.object.reference(), &thing.by.reference);
    let installer = format!("{}{used}", chart_of_release(thing.object));
    let others = match one.count() - 1 {
        0 => String::new(),
        1 => " and one more object".into(),
        others => format!(" and {others} more objects"),
    };
    let message = match custom_resource {
        Some(resource) => format!(
            "{} applies {}, whose CRD {installer} installs, and does not depend on {provider}",
            by.reference,
            resource.object.reference()
        ),
        None => format!("{} uses {used}{others} of {provider} and does not depend on it", by.reference),
    };
    let help = if *is_late {
        let own = &by.reference;
        format!(
            "move {used} to {own} or to one of its dependencies: {provider} needs a namespace that {own} applies, and \
             {} until {provider} is applied",
            effect(one)
        )
    } else {
        let wanted = in_words(thing.by, consumer);
        let follow = match followers {
            0 => String::new(),
            1 => ", as does a Kustomization that it applies".to_owned(),
            more => format!(", as do {more} Kustomizations that it applies"),
        };
        let effect = effect(one);
        format!(
            "add {wanted} to `dependsOn`: on a new cluster Flux may apply it later, and {effect} until then{follow}"
        )
    };
    let finding = Finding::warning(RULE.id, place_in(by, consumer), message).help(help).about(by.reference.clone());
    let finding = finding.related(at.clone(), "used here");
    let summary = match custom_resource {
        Some(resource) => format!(
            " appliers apply objects of kind {}, whose CRD {installer} installs, and do not depend on {provider}",
            resource.object.kind()
        ),
        None => format!(" appliers use {used} of {provider} and do not depend on it"),
    };
    let finding = finding.caused_by(format!("{is_late} {summary}"), "", summary);
    let finding = if *is_late {
        finding.help_for_all(format!(
            "move {used} to a Kustomization that all of these appliers can depend on: {provider} needs namespaces that \
             they apply, and {} until {provider} is applied",
            effects(std::slice::from_ref(one))
        ))
    } else {
        finding.help_for_all(format!(
            "add {provider} to `dependsOn` of each of these appliers: on a new cluster Flux may apply it later, and {} \
             until then",
            effects(std::slice::from_ref(one))
        ))
    };
    Some(finding.related(thing.by.place(thing.object.span()), format!("applied by {provider}")))
}

/// Returns one finding for many consumers, at the parent that applies them.
fn finding_at_parent(above: &Arc<Applier>, uses: &[LateUse<'_>]) -> Option<Finding> {
    let (first, parent) = (uses.first()?, above.object.as_ref()?);
    let message = format!(
        "{} {} that {} applies use {} and do not depend on it",
        uses.len(),
        kinds_of(uses),
        above.reference,
        used_by_all(first, uses)
    );
    let help = format!(
        "add {} to `dependsOn` of {} or of each of these {}: on a new cluster Flux may apply it later, and {} until \
         then",
        in_words(first.thing.by, parent),
        above.reference,
        kinds_of(uses),
        effects(uses)
    );
    let finding = Finding::warning(RULE.id, place_in(above, parent), message).help(help).about(above.reference.clone());
    Some(with_places(finding, first, uses))
}

/// Returns one finding for many consumers without a common parent that could wait.
fn finding_of_all(uses: &[LateUse<'_>]) -> Option<Finding> {
    let first = uses.first()?;
    let (provider, consumer) = (&first.thing.by.reference, first.by.object.as_ref()?);
    let message = format!("{} {} use {} and do not depend on it", uses.len(), kinds_of(uses), used_by_all(first, uses));
    let late = uses.iter().filter(|one| one.is_late).count();
    let help = if late > 0 {
        format!(
            "move each used object to a Kustomization that all of these {} can depend on: {provider} needs namespaces \
             that {late} of them apply",
            kinds_of(uses)
        )
    } else {
        format!(
            "add {provider} to `dependsOn` of each of these {}: on a new cluster Flux may apply it later, and {} until \
             then",
            kinds_of(uses),
            effects(uses)
        )
    };
    let part = |one: &LateUse<'_>| {
        let span = place_in(one.by, one.by.object.as_ref()?).span;
        Some(Part { span, object: Some(one.by.reference.clone()), fault: provider.to_string() })
    };
    let finding = Finding::warning(RULE.id, place_in(first.by, consumer), message);
    let finding = finding.with_parts(uses.iter().filter_map(part));
    Some(with_places(finding.help(help).about(first.by.reference.clone()), first, uses))
}

/// The effect of a use until the used object exists.
fn effect(one: &LateUse<'_>) -> String {
    match one.effect {
        Effect::UsersFail => "the objects that use it fail".to_owned(),
        Effect::Waits => format!("{} waits", one.by.reference),
        Effect::Fails => format!("{} fails", one.by.reference),
    }
}

/// The common effect of uses until the used objects exist.
fn effects(uses: &[LateUse<'_>]) -> String {
    let count = |effect: Effect| uses.iter().filter(|one| one.effect == effect).count();
    match (count(Effect::Fails), count(Effect::Waits)) {
        (fail, _) if fail == uses.len() => "they fail".to_owned(),
        (0, wait) if wait == uses.len() => "they wait".to_owned(),
        (0, _) => "the objects that use it fail".to_owned(),
        (1, _) => "one of them fails".to_owned(),
        (fail, _) => format!("{fail} of them fail"),
    }
}

fn kinds_of(uses: &[LateUse<'_>]) -> &'static str {
    let is_plain = uses.iter().all(|one| one.by.kind == ApplierKind::Kustomization);
    if is_plain { "Kustomizations" } else { "objects" }
}

/// The used objects, as text for a message.
fn used_by_all(first: &LateUse<'_>, uses: &[LateUse<'_>]) -> String {
    let (object, provider) = (first.thing.object.reference(), &first.thing.by.reference);
    let is_same = |one: &LateUse<'_>| memory_address(one.thing.object) == memory_address(first.thing.object);
    let is_one = uses.iter().all(|one| one.count() == 1 && is_same(one));
    let others = if is_one { "" } else { " and other objects" };
    let installed = match first.custom_resource {
        Some(_) => format!("the CRDs from {}", chart_of_release(first.thing.object)),
        None => String::new(),
    };
    format!("{installed}{object}{others} of {provider}")
}

/// The text before the name of an object that installs CRDs. A release installs those of its chart.
fn chart_of_release(object: &Object) -> &'static str {
    if object.is(groups::HELM, "HelmRelease") { "the chart of " } else { "" }
}

fn with_places(finding: Finding, first: &LateUse<'_>, uses: &[LateUse<'_>]) -> Finding {
    let places = uses.iter().map(|one| Label::new(one.at.clone(), format!("used by {}", one.by.reference)));
    let provider = &first.thing.by.reference;
    finding
        .with_others(places.collect())
        .related(first.thing.by.place(first.thing.object.span()), format!("applied by {provider}"))
}

/// The label for `dependsOn` of an applier, or for the missing field.
fn place_in(applier: &Applier, object: &Object) -> Label {
    let listed = object.node.get("spec").and_then(|spec| spec.entry("dependsOn")).map(Entry::key_span);
    let place = listed.map_or_else(|| missing_in_spec(object, "dependsOn"), Label::from);
    Label::new(own_position(applier, &place.span), place.message)
}

/// A provider, as text for a message, with the namespace if `dependsOn` of the consumer must set it.
fn in_words(provider: &Applier, consumer: &Object) -> String {
    let reference = &provider.reference;
    match reference.namespace.as_ref().filter(|namespace| Some(&***namespace) != consumer.namespace()) {
        Some(namespace) => format!("`{}` of namespace `{namespace}`", reference.name),
        None => format!("`{}`", reference.name),
    }
}
