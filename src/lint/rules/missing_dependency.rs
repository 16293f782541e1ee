use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::inputs::Input;
use crate::lint::facts::own_position::own_position;
use crate::lint::findings::Findings;
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::order::apply_order::ApplyOrder;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Entry, Node};

declare! {
    /// A Kustomization uses an object that only another Kustomization applies, and does not depend on it.
    ///
    /// ## Why
    ///
    /// On a running cluster all objects already exist. On a new cluster the order is random. The API server rejects
    /// custom resources until their CRD exists, and one rejected object stops the whole Kustomization. A HelmRelease
    /// fails at first if its source or values are applied later, and then waits for its next interval. With `wait:
    /// true` the Kustomization runs into its timeout.
    ///
    /// The rule checks sources, CRDs, and the ConfigMaps and Secrets that contain values. Direct and transitive
    /// dependencies count, and so do the dependencies of the Kustomizations that apply this one, and the objects that
    /// those apply themselves. The rule reports nothing if one Kustomization applies both objects, or if the consumer
    /// applies the provider: a dependency cannot help there. It reports one finding for each pair of Kustomizations. If
    /// one Kustomization applies many consumers and could wait for all of them, it reports one finding.
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
    /// ## Source
    ///
    /// [Flux: dependencies](https://fluxcd.io/flux/components/kustomize/kustomizations/#dependencies)
    "missing-dependency", Warning, "a Kustomization uses an object of another Kustomization and does not depend on it",
    Check::Cluster(check),
}

/// The uses of objects between appliers, by the positions of consumer and provider.
struct Uses<'v, 'a> {
    view: &'v View<'a>,
    order: OnceCell<Order<'a>>,
    pairs: BTreeMap<(usize, usize), Use<'a>>,
}

/// The tree of appliers, and the order that results from it.
struct Order<'a> {
    tree: ApplierTree,
    order: ApplyOrder<'a>,
}

/// The uses of a provider's objects by one consumer.
struct Use<'a> {
    /// The consumer.
    by: &'a Arc<Applier>,
    /// The first used object.
    thing: Applied<'a>,
    /// The place of its first use.
    at: Span,
    /// The number of uses.
    count: usize,
    /// The topmost ancestor of the consumer that could depend on the provider instead.
    above: Option<&'a Arc<Applier>>,
    /// Whether the provider comes after the consumer.
    is_late: bool,
}

/// The largest number of consumers of one Kustomization with separate findings. More of them get one finding at their
/// parent.
const MAX_SEPARATE: usize = 3;

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let mut uses = Uses { view, order: OnceCell::new(), pairs: BTreeMap::new() };
    for Input { by, thing, node, .. } in view.inputs() {
        uses.add(by, *thing, node);
    }
    uses.add_custom_resources();
    let Uses { pairs, .. } = uses;
    if pairs.is_empty() {
        return;
    }
    // An object that a second applier applies too does not require the first one.
    let twice: BTreeSet<usize> = view.duplicates().map(|(first, _)| memory_address(first.object)).collect();
    let single = pairs.into_values().filter(|one| !twice.contains(&memory_address(one.thing.object)));
    let mut groups: BTreeMap<(Option<usize>, usize), Vec<Use<'_>>> = BTreeMap::new();
    for one in single {
        groups.entry((one.above.map(|above| above.at), one.thing.by.at)).or_default().push(one);
    }
    for uses in groups.values() {
        match uses.first().and_then(|first| first.above).filter(|_| uses.len() > MAX_SEPARATE) {
            Some(above) => found.extend(finding_at_parent(above, uses)),
            None => found.extend(uses.iter().filter_map(finding)),
        }
    }
}

impl<'a> Uses<'_, 'a> {
    /// Adds the custom resources as consumers of their CRDs.
    fn add_custom_resources(&mut self) {
        for definition in self.view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
            let text = |keys: &[&str]| definition.object.text_at(keys);
            let (Some(group), Some(kind)) = (text(&["spec", "group"]), text(&["spec", "names", "kind"])) else {
                continue;
            };
            for applied in self.view.of_kind(group, kind) {
                self.add(applied.by, definition, applied.object.node.get("kind").unwrap_or(&applied.object.node));
            }
        }
    }

    /// Adds the use of an object by an applier, unless the order already guarantees that the object comes first.
    fn add(&mut self, by: &'a Arc<Applier>, thing: Applied<'a>, node: &Node) {
        let (consumer, provider) = (by.at, thing.by.at);
        if let Some(known) = self.pairs.get_mut(&(consumer, provider)) {
            known.count += 1;
            return;
        }
        // The provider is usually an ancestor of the consumer, which is cheap to check without the complete order.
        if consumer == provider || !can_wait(by, thing.by) || is_ancestor(thing.by, by) {
            return;
        }
        let Order { tree, order } = self.order.get_or_init(|| {
            let tree = ApplierTree::when_running(self.view);
            Order { order: ApplyOrder::new(self.view, &tree), tree }
        });
        if !order.is_before(provider, consumer) && !tree.is_ancestor(consumer, provider) {
            let is_late = order.is_before(consumer, provider);
            let could_wait = |above: &&Arc<Applier>| {
                let at = above.at;
                at != provider
                    && can_wait(above, thing.by)
                    && !tree.is_ancestor(at, provider)
                    && !order.is_before(at, provider)
            };
            let lineage = std::iter::successors(by.parent_applier.as_ref(), |above| above.parent_applier.as_ref());
            let above = lineage.take_while(could_wait).last();
            let at = by.place(node.span());
            self.pairs.insert((consumer, provider), Use { by, thing, at, count: 1, above, is_late });
        }
    }
}

/// Returns whether one applier applies another one, directly or not.
fn is_ancestor(one: &Applier, other: &Applier) -> bool {
    std::iter::successors(other.parent_applier.as_ref(), |above| above.parent_applier.as_ref())
        .any(|above| above.at == one.at)
}

/// Returns whether one applier can depend on another one. A Kustomization can depend only on Kustomizations.
fn can_wait(consumer: &Applier, provider: &Applier) -> bool {
    match consumer.kind {
        ApplierKind::Kustomization => provider.kind == ApplierKind::Kustomization,
        ApplierKind::ResourceSet => matches!(provider.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet),
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::Folder => false,
    }
}

fn finding(one: &Use<'_>) -> Option<Finding> {
    let Use { by, thing, at, count, is_late, .. } = one;
    let consumer = by.object.as_ref()?;
    let (used, provider) = (thing.object.reference(), &thing.by.reference);
    let others = match count - 1 {
        0 => String::new(),
        1 => " and one more object".into(),
        others => format!(" and {others} more objects"),
    };
    let message = format!("{} uses {used}{others} of {provider} and does not depend on it", by.reference);
    let help = if *is_late {
        let own = &by.reference;
        format!("move it to {own} or to one of its dependencies: {provider} waits for {own}, which fails until then")
    } else {
        let wanted = in_words(thing.by, consumer);
        format!("add {wanted} to `dependsOn`: on a new cluster it may be applied later, and this fails until then")
    };
    let finding = Finding::warning(RULE.id, place_in(by, consumer), message).help(help).about(by.reference.clone());
    let summary = format!(" objects use objects of {provider} and do not depend on it");
    let finding = finding.related(at.clone(), "used here").caused_by(format!("{provider} {is_late}"), "", summary);
    Some(finding.related(thing.by.place(thing.object.span()), format!("applied by {provider}")))
}

/// Creates one finding for many consumers, at the parent that applies them.
fn finding_at_parent(above: &Arc<Applier>, uses: &[Use<'_>]) -> Option<Finding> {
    let (first, parent) = (uses.first()?, above.object.as_ref()?);
    let (object, provider) = (first.thing.object.reference(), &first.thing.by.reference);
    let is_one =
        uses.iter().all(|one| one.count == 1 && memory_address(one.thing.object) == memory_address(first.thing.object));
    let is_plain = uses.iter().all(|one| one.by.kind == ApplierKind::Kustomization);
    let kinds = if is_plain { "Kustomizations" } else { "objects" };
    let others = if is_one { "" } else { " and more" };
    let message = format!(
        "{} {kinds} that {} applies use {object}{others} of {provider} and do not depend on it",
        uses.len(),
        above.reference
    );
    let help = format!(
        "add {} to `dependsOn` here, or in each of them: on a new cluster it may be applied later, and they fail until \
         then",
        in_words(first.thing.by, parent)
    );
    let mut finding =
        Finding::warning(RULE.id, place_in(above, parent), message).help(help).about(above.reference.clone());
    for one in uses.iter().take(MAX_SEPARATE) {
        finding = finding.related(one.at.clone(), format!("used by {}", one.by.reference));
    }
    Some(finding.related(first.thing.by.place(first.thing.object.span()), format!("applied by {provider}")))
}

/// The place of `dependsOn` of an applier.
fn place_in(applier: &Applier, object: &Object) -> Label {
    let listed = object.node.get("spec").and_then(|spec| spec.entry("dependsOn")).map(Entry::key_span);
    let place = listed.map_or_else(|| missing_in_spec(object, "dependsOn"), Label::from);
    Label::new(own_position(applier, &place.span), place.message)
}

/// A provider as text for a message, with the namespace that `dependsOn` of the consumer must set.
fn in_words(provider: &Applier, consumer: &Object) -> String {
    let reference = &provider.reference;
    match reference.namespace.as_ref().filter(|namespace| Some(&***namespace) != consumer.namespace()) {
        Some(namespace) => format!("`{}` of namespace `{namespace}`", reference.name),
        None => format!("`{}`", reference.name),
    }
}
