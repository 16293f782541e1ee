use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::finding::{Finding, Label};
use crate::flux::{Applied, Applier, ApplierKind};
use crate::kube::Object;
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::inputs::Input;
use crate::lint::findings::Findings;
use crate::lint::order::apply_order::ApplyOrder;
use crate::lint::rule::{Check, declare, missing_in_spec};
use crate::lint::order::applier_tree::ApplierTree;
use crate::lint::facts::own_position::own_position;
use crate::lint::view::View;
use crate::text::Span;
use crate::yaml::{Entry, Node};

declare! {
    /// A Kustomization uses what only another one brings, and does not depend on it.
    ///
    /// ## Why
    ///
    /// On a cluster that is set up already everything is there. On a new one the order is a matter of luck: custom
    /// resources are refused before their CRD is there, and one that is refused stops the whole Kustomization; a
    /// HelmRelease whose source or values come later fails first and waits for its next turn. With `wait: true` it runs into
    /// its timeout.
    ///
    /// Counted are sources, the ConfigMaps and Secrets that values come from, and CRDs. Dependencies count directly and
    /// through others, those of the Kustomizations that bring this one as well, and so does everything that these bring
    /// themselves. Silent where both arrive in one Kustomization, and where the bringer is itself brought by the user: no
    /// dependency helps there. One finding for each pair; of many users that one Kustomization brings, which could wait
    /// for all of them, one finding in all.
    ///
    /// ## How to fix it
    ///
    /// Add the bringer to `dependsOn`, and let it `wait`.
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
    "missing-dependency", Warning, "something that another Kustomization brings is used without depending on it",
    Check::Cluster(check),
}

/// Who needs what whom brings.
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

/// The first thing that one applier needs of another, and how many there are.
struct Use<'a> {
    by: &'a Arc<Applier>,
    thing: Applied<'a>,
    at: Span,
    count: usize,
    /// The uppermost of those that bring the user and could depend on the bringer in its place.
    above: Option<&'a Arc<Applier>>,
    /// Whether the bringer comes after the user.
    is_late: bool,
}

/// Of so many users of one Kustomization each is told; of more, what brings them.
const MAX_TOLD: usize = 3;

fn check(view: &View<'_>, found: &mut Findings) {
    if !view.is_whole() {
        return;
    }
    let mut uses = Uses { view, order: OnceCell::new(), pairs: BTreeMap::new() };
    for Input { by, thing, node, .. } in view.inputs() {
        uses.take(by, *thing, node);
    }
    uses.of_definitions();
    let Uses { pairs, .. } = uses;
    if pairs.is_empty() {
        return;
    }
    // What a second one brings too does not need the first.
    let twice: BTreeSet<usize> = view.duplicates().map(|(first, _)| memory_address(first.object)).collect();
    let single = pairs.into_values().filter(|one| !twice.contains(&memory_address(one.thing.object)));
    let mut together: BTreeMap<(Option<usize>, usize), Vec<Use<'_>>> = BTreeMap::new();
    for one in single {
        together.entry((one.above.map(|above| above.at), one.thing.by.at)).or_default().push(one);
    }
    for uses in together.values() {
        match uses.first().and_then(|first| first.above).filter(|_| uses.len() > MAX_TOLD) {
            Some(above) => found.extend(finding_of_all(above, uses)),
            None => found.extend(uses.iter().filter_map(finding)),
        }
    }
}

impl<'a> Uses<'_, 'a> {
    /// Custom resources whose definition comes with another one.
    fn of_definitions(&mut self) {
        for definition in self.view.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
            let said = |keys: &[&str]| definition.object.text_at(keys);
            let (Some(group), Some(kind)) = (said(&["spec", "group"]), said(&["spec", "names", "kind"])) else {
                continue;
            };
            for applied in self.view.of_kind(group, kind) {
                self.take(applied.by, definition, applied.object.node.get("kind").unwrap_or(&applied.object.node));
            }
        }
    }

    fn take(&mut self, by: &'a Arc<Applier>, thing: Applied<'a>, node: &Node) {
        let (user, bringer) = (by.at, thing.by.at);
        if let Some(known) = self.pairs.get_mut(&(user, bringer)) {
            known.count += 1;
            return;
        }
        // Most of what is used comes with who brings the user, which is seen without the order of all.
        if user == bringer || !can_wait(by, thing.by) || brings(thing.by, by) {
            return;
        }
        let Order { tree, order } = self.order.get_or_init(|| {
            let tree = ApplierTree::when_running(self.view);
            Order { order: ApplyOrder::new(self.view, &tree), tree }
        });
        if !order.is_before(bringer, user) && !tree.is_ancestor(user, bringer) {
            let is_late = order.is_before(user, bringer);
            let could_wait = |above: &&Arc<Applier>| {
                let at = above.at;
                at != bringer && can_wait(above, thing.by) && !tree.is_ancestor(at, bringer) && !order.is_before(at, bringer)
            };
            let lineage = std::iter::successors(by.brought_by.as_ref(), |above| above.brought_by.as_ref());
            let above = lineage.take_while(could_wait).last();
            let at = by.place(node.span());
            self.pairs.insert((user, bringer), Use { by, thing, at, count: 1, above, is_late });
        }
    }
}

/// Whether one applier brings another one, at whatever distance.
fn brings(one: &Applier, other: &Applier) -> bool {
    std::iter::successors(other.brought_by.as_ref(), |above| above.brought_by.as_ref()).any(|above| above.at == one.at)
}

/// Whether one applier can depend on another one: a Kustomization depends on Kustomizations alone.
fn can_wait(user: &Applier, bringer: &Applier) -> bool {
    match user.kind {
        ApplierKind::Kustomization => bringer.kind == ApplierKind::Kustomization,
        ApplierKind::ResourceSet => matches!(bringer.kind, ApplierKind::Kustomization | ApplierKind::ResourceSet),
        ApplierKind::Bootstrap | ApplierKind::FluxInstance | ApplierKind::Folder => false,
    }
}

fn finding(one: &Use<'_>) -> Option<Finding> {
    let Use { by, thing, at, count, is_late, .. } = one;
    let user = by.object.as_ref()?;
    let (brought, bringer) = (thing.object.reference(), &thing.by.reference);
    let others = match count - 1 {
        0 => String::new(),
        1 => " and one more thing".into(),
        others => format!(" and {others} more things"),
    };
    let message = format!("{} uses {brought}{others} of {bringer} and does not depend on it", by.reference);
    let help = if *is_late {
        let own = &by.reference;
        format!("let {own} bring it, or what comes before: {bringer} waits for {own}, and this fails until then")
    } else {
        let wanted = in_words(thing.by, user);
        format!("add {wanted} to `dependsOn`: on a new cluster it may come later, and this fails until then")
    };
    let finding = Finding::warning(RULE.id, place_in(by, user), message).help(help).about(by.reference.clone());
    let finding = finding.related(at.clone(), "used here");
    Some(finding.related(thing.by.place(thing.object.span()), format!("brought by {bringer}")))
}

/// What is said of many users at what brings them.
fn finding_of_all(above: &Arc<Applier>, uses: &[Use<'_>]) -> Option<Finding> {
    let (first, parent) = (uses.first()?, above.object.as_ref()?);
    let (brought, bringer) = (first.thing.object.reference(), &first.thing.by.reference);
    let is_one =
        uses.iter().all(|one| one.count == 1 && memory_address(one.thing.object) == memory_address(first.thing.object));
    let is_plain = uses.iter().all(|one| one.by.kind == ApplierKind::Kustomization);
    let kinds = if is_plain { "Kustomizations" } else { "objects" };
    let others = if is_one { "" } else { " and more" };
    let message = format!(
        "{} {kinds} that {} brings use {brought}{others} of {bringer} and do not depend on it",
        uses.len(),
        above.reference
    );
    let help = format!(
        "add {} to `dependsOn` here, or in each of them: on a new cluster it may come later, and they fail until then",
        in_words(first.thing.by, parent)
    );
    let mut finding =
        Finding::warning(RULE.id, place_in(above, parent), message).help(help).about(above.reference.clone());
    for one in uses.iter().take(MAX_TOLD) {
        finding = finding.related(one.at.clone(), format!("used by {}", one.by.reference));
    }
    Some(finding.related(first.thing.by.place(first.thing.object.span()), format!("brought by {bringer}")))
}

/// The place of the dependencies of an applier.
fn place_in(applier: &Applier, object: &Object) -> Label {
    let listed = object.node.get("spec").and_then(|spec| spec.entry("dependsOn")).map(Entry::key_span);
    let place = listed.map_or_else(|| missing_in_spec(object, "dependsOn"), Label::from);
    Label::new(own_position(applier, &place.span), place.message)
}

/// A bringer as `dependsOn` of an object names it.
fn in_words(bringer: &Applier, user: &Object) -> String {
    let reference = &bringer.reference;
    match reference.namespace.as_ref().filter(|namespace| Some(&***namespace) != user.namespace()) {
        Some(namespace) => format!("`{}` of namespace `{namespace}`", reference.name),
        None => format!("`{}`", reference.name),
    }
}
