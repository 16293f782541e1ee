//! Objects that an applier uses and that only another applier applies, without an order between the two appliers.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::applier_tree::ApplierTree;
use super::apply_order::{ApplyOrder, Certainty, applied, started, waits_for};
use super::chart_uses::{ChartUse, uses_of_charts};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::inputs::Input;
use crate::lint::view::View;
use crate::text::{Index, Span};
use crate::yaml::{Name, Node};

/// The maximum number of CRDs that define one kind. Each of them has as many consumers as the kind has objects.
const MAX_DEFINITIONS: usize = 20;

/// The uses between the appliers of a cluster, by the positions of consumer and provider.
#[derive(Default)]
pub(crate) struct LateUses<'a> {
    pairs: BTreeMap<(usize, usize), LateUse<'a>>,
}

/// The uses of a provider's objects by one consumer.
pub(crate) struct LateUse<'a> {
    /// The consumer.
    pub(crate) by: &'a Arc<Applier>,
    /// The first used object. It is the release if the chart of the release installs a CRD.
    pub(crate) thing: Applied<'a>,
    /// The custom resource whose CRD a chart installs.
    pub(crate) custom_resource: Option<Applied<'a>>,
    /// The position of the first use.
    pub(crate) at: Span,
    /// The memory addresses of the used objects.
    things: BTreeSet<usize>,
    /// The topmost ancestor of the consumer that could depend on the provider in place of the consumer.
    pub(crate) above: Option<&'a Arc<Applier>>,
    /// Whether the provider needs a namespace that the consumer applies, so that the consumer cannot wait for it.
    pub(crate) is_late: bool,
    /// The effect on the consumer until the used objects exist.
    pub(crate) effect: Effect,
}

/// The effect of missing objects on the applier that uses them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Objects of the applier fail and retry. The applier itself becomes ready.
    UsersFail,
    /// The applier waits until objects that fail and retry are ready.
    Waits,
    /// The applier fails and retries.
    Fails,
}

impl LateUse<'_> {
    /// The number of used objects.
    pub(crate) fn count(&self) -> usize {
        self.things.len()
    }
}

/// A search for uses without an order.
struct Search<'v, 'a> {
    view: &'v View<'a>,
    order: OnceCell<Order<'a>>,
    namespaces: OnceCell<BTreeSet<(usize, usize)>>,
    pairs: BTreeMap<(usize, usize), LateUse<'a>>,
}

/// The applier tree, and the apply order that results from it.
struct Order<'a> {
    tree: ApplierTree,
    order: ApplyOrder<'a>,
}

impl<'a> LateUses<'a> {
    /// The uses on a cluster.
    pub(crate) fn of(view: &View<'a>) -> Self {
        let mut search = Search { view, order: OnceCell::new(), namespaces: OnceCell::new(), pairs: BTreeMap::new() };
        for input in view.inputs().iter().filter(|input| !view.is_input_before_flux(input)) {
            let Input { user, by, is_itself, node, thing, .. } = input;
            // An applier that applies its own source started after a user had applied the source.
            if thing.by.source.as_ref() == Some(&thing.object.reference()) {
                continue;
            }
            search.add(by, *thing, node, || match is_itself {
                true => Effect::Fails,
                false if waits_for(by, user) => Effect::Waits,
                false => Effect::UsersFail,
            });
        }
        search.add_custom_resources();
        search.add_resources_of_charts();
        let mut pairs = search.pairs;
        // Flux applies the namespace that the provider needs, then the provider, and the objects of the consumer retry.
        pairs.retain(|_, one| !one.is_late || one.effect > Effect::UsersFail);
        if !pairs.is_empty() {
            // An object that two appliers apply does not require the first applier.
            let twice: BTreeSet<usize> = view.duplicates().map(|(first, _)| memory_address(first.object)).collect();
            pairs.retain(|_, one| !twice.contains(&memory_address(one.thing.object)));
        }
        if let Some(Order { mut order, .. }) = search.order.into_inner() {
            keep_acyclic_ancestors(&mut pairs, &mut order);
        }
        Self { pairs }
    }

    /// The uses, one for each pair of consumer and provider.
    pub(crate) fn into_uses(self) -> impl Iterator<Item = LateUse<'a>> {
        self.pairs.into_values()
    }

    /// Returns whether an applier uses objects of another applier.
    pub(crate) fn contains(&self, consumer: usize, provider: usize) -> bool {
        self.pairs.contains_key(&(consumer, provider))
    }
}

impl<'a> Search<'_, 'a> {
    /// Adds the custom resources as consumers of their CRDs.
    fn add_custom_resources(&mut self) {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for definition in self.view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
            let definition_object: &'a Object = definition.object;
            let text = |keys: &[&str]| definition_object.text_at(keys);
            let (Some(group), Some(kind)) = (text(&["spec", "group"]), text(&["spec", "names", "kind"])) else {
                continue;
            };
            let count = counts.entry((group, kind)).or_default();
            *count += 1;
            if *count > MAX_DEFINITIONS {
                continue;
            }
            for applied in self.view.of_kind(group, kind) {
                self.add(applied.by, definition, kind_of(applied), || Effect::Fails);
            }
        }
    }

    /// Adds the custom resources as consumers of the releases whose charts install their CRDs.
    fn add_resources_of_charts(&mut self) {
        for ChartUse { user, charts } in uses_of_charts(self.view) {
            let consumer = user.by.at;
            let comes_first = |chart: &Applied<'a>| {
                let provider = chart.by.at;
                provider == consumer
                    || is_ancestor(chart.by, user.by)
                    || self.order().order.is_before(provider, consumer)
            };
            if charts.iter().any(comes_first) {
                continue;
            }
            let Some(chart) = charts.first() else { continue };
            let is_new = !self.pairs.contains_key(&(consumer, chart.by.at));
            self.add(user.by, *chart, kind_of(user), || Effect::Fails);
            if let Some(added) = self.pairs.get_mut(&(consumer, chart.by.at)).filter(|_| is_new) {
                added.custom_resource = Some(user);
            }
        }
    }

    /// The appliers that use a namespace, each with the only applier of that namespace.
    fn namespaces(&self) -> &BTreeSet<(usize, usize)> {
        self.namespaces.get_or_init(|| {
            let mut appliers: Index<&Name, Vec<usize>> = Index::default();
            for (brought, listing) in &self.view.lists {
                let names = listing.needs(&brought.objects).namespaces.iter();
                names.for_each(|name| appliers.entry(name).push(brought.by.at));
            }
            let mut pairs = BTreeSet::new();
            for (brought, listing) in self.view.by_flux() {
                for (name, _) in &listing.namespaces {
                    let Some([applier]) = appliers.get(&name).map(Vec::as_slice) else { continue };
                    if *applier != brought.by.at && !self.view.has_namespace_without_applier(name) {
                        pairs.insert((brought.by.at, *applier));
                    }
                }
            }
            pairs
        })
    }

    fn order(&self) -> &Order<'a> {
        self.order.get_or_init(|| {
            let tree = ApplierTree::when_running(self.view);
            Order { order: ApplyOrder::new(self.view, &tree), tree }
        })
    }

    /// Adds the use of an object by an applier, unless Flux already applies the object first.
    ///
    /// `effect` returns the effect until the object exists.
    fn add(&mut self, by: &'a Arc<Applier>, thing: Applied<'a>, node: &Node, effect: impl Fn() -> Effect) {
        let (consumer, provider) = (by.at, thing.by.at);
        if let Some(known) = self.pairs.get_mut(&(consumer, provider)) {
            known.things.insert(memory_address(thing.object));
            let effect = if known.effect == Effect::Fails { Effect::Fails } else { effect() };
            if effect > known.effect {
                known.effect = effect;
                if known.is_late {
                    (known.thing, known.at) = (thing, by.place(node.span()));
                }
            }
            return;
        }
        // The provider is usually an ancestor of the consumer. That check is cheap, since it does not need the complete
        // order.
        if consumer == provider || !can_wait(by, thing.by) || is_ancestor(thing.by, by) {
            return;
        }
        let Order { tree, order } = self.order();
        if order.is_before(provider, consumer) || tree.is_ancestor(consumer, provider) {
            return;
        }
        // `bootstrap-order` reports appliers that wait for each other. If the consumer becomes ready without the object, Flux
        // applies the provider next, and the objects of the consumer retry.
        if order.is_before(consumer, provider) || self.view.may_exist_before_flux(thing) {
            return;
        }
        // The provider fails until its namespace exists, so the consumer cannot wait for it.
        let is_late = self.namespaces().contains(&(provider, consumer));
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
        let things = BTreeSet::from([memory_address(thing.object)]);
        let found = LateUse { by, thing, custom_resource: None, at, things, above, is_late, effect: effect() };
        self.pairs.insert((consumer, provider), found);
    }
}

/// Removes an ancestor from the uses if it would wait for itself as soon as all ancestors depend on the providers: a
/// provider may need an object that the ancestor or its children apply.
fn keep_acyclic_ancestors(pairs: &mut BTreeMap<(usize, usize), LateUse<'_>>, order: &mut ApplyOrder<'_>) {
    if pairs.values().all(|one| one.above.is_none()) {
        return;
    }
    let need = |one: &LateUse<'_>| (one.at.clone(), String::new());
    for one in pairs.values().filter(|one| !one.is_late) {
        order.add_need(started(one.by.at), applied(one.thing.by.at), need(one), Certainty::Likely);
    }
    let mut judged: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for one in pairs.values_mut() {
        let Some(above) = one.above else { continue };
        let provider = one.thing.by.at;
        let can_wait = *judged.entry((above.at, provider)).or_insert_with(|| {
            let can_wait = !order.is_ready_after(provider, above.at);
            if can_wait {
                order.add_need(started(above.at), applied(provider), need(one), Certainty::Likely);
            }
            can_wait
        });
        if !can_wait {
            one.above = None;
        }
    }
}

fn kind_of(applied: Applied<'_>) -> &Node {
    applied.object.node.get("kind").unwrap_or(&applied.object.node)
}

/// Returns whether an applier applies another applier, directly or indirectly.
fn is_ancestor(one: &Applier, other: &Applier) -> bool {
    std::iter::successors(other.parent_applier.as_ref(), |above| above.parent_applier.as_ref())
        .any(|above| above.at == one.at)
}

/// Returns whether an applier can depend on another applier. A Kustomization can depend only on Kustomizations.
fn can_wait(consumer: &Applier, provider: &Applier) -> bool {
    match consumer.kind {
        ApplierKind::Kustomization => provider.kind == ApplierKind::Kustomization,
        ApplierKind::ResourceSet => matches!(provider.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet),
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::Folder => false,
    }
}
