//! A cluster as rules ask it: what it receives, by identity and by kind, and what it may have from elsewhere.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::rule::Context;
use super::scope::settled_namespace;
use crate::config;
use crate::flux::{Applied, AppliedSet, Applier, ApplierKind, Installation, Producers, Receiver, Tenancy};
use crate::kube::Object;
use crate::lint::facts::inputs::{Input, inputs};
use crate::lint::facts::listing::{Listing, kind_print, print};
use crate::lint::facts::unknown_sources::Makers;
use crate::rbac::{Kinds, Rbac};
use crate::text::Index;
use crate::yaml::Name;

/// A cluster as rules ask it. One that another cluster's Flux applies to by `kubeConfig` has a view of its own, in which
/// that Flux and its objects are not.
pub struct View<'a> {
    /// Who receives.
    pub receiver: Receiver<'a>,
    /// What rules on single objects may ask too.
    pub context: Context<'a>,
    pub(super) lists: Vec<(&'a AppliedSet, Arc<Listing>)>,
    /// The kustomizations that bring its Flux.
    pub(super) installations: Vec<&'a Installation>,
    pub(super) external: &'a [config::Declared],
    by_id: OnceLock<ById>,
    producers: OnceLock<Producers>,
    makers: OnceLock<Makers<'a>>,
    rbac: OnceLock<Rbac>,
    kinds: OnceLock<Kinds>,
    inputs: OnceLock<Vec<Input<'a>>>,
}

/// Where an object stands: the list, and the position in it.
type Place = (usize, usize);

/// The objects of a cluster by identity.
#[derive(Default)]
struct ById {
    first: Index<u64, Place>,
    /// The further ones of an identity, each with the first.
    again: Vec<(Place, Place)>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        receiver: Receiver<'a>,
        context: Context<'a>,
        lists: Vec<(&'a AppliedSet, Arc<Listing>)>,
        installations: Vec<&'a Installation>,
        external: &'a [config::Declared],
    ) -> Self {
        let (by_id, producers, makers) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (rbac, kinds, inputs) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { receiver, context, lists, installations, external, by_id, producers, makers, rbac, kinds, inputs }
    }

    /// Its tenants, and what they rely on.
    pub fn tenancy(&self) -> &'a Tenancy {
        self.context.tenancy
    }

    /// Whether all that it receives is known to be described here: in a repository without a root, others may bring more.
    pub fn is_whole(&self) -> bool {
        !self.receiver.cluster.name.is_empty()
    }

    /// Who applies objects to it.
    pub fn appliers(&self) -> impl Iterator<Item = &'a Arc<Applier>> {
        let target = self.receiver.target.clone();
        self.receiver.cluster.appliers.iter().filter(move |applier| applier.target == target)
    }

    /// What it receives, in the order of the appliers.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'a>> {
        self.lists.iter().flat_map(|(brought, _)| brought.applied())
    }

    /// What it is brought, by each applier in their order.
    pub fn applied_sets(&self) -> impl Iterator<Item = &'a AppliedSet> {
        self.lists.iter().map(|(brought, _)| *brought)
    }

    /// The objects of a group and kind, of whatever version, in the order of the appliers.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Applied<'a>> {
        let print = kind_print(group, kind);
        let places = self.lists.iter().flat_map(move |(brought, listing)| {
            let brought: &'a AppliedSet = brought;
            listing.of_kind(print).iter().filter_map(move |at| brought.at(*at))
        });
        places.collect::<Vec<_>>().into_iter()
    }

    /// The namespaces that objects name, in the order of the appliers, each with the first object of each applier that
    /// does; without what was applied by hand.
    pub fn namespaces(&self) -> impl Iterator<Item = (&Name, Applied<'a>)> {
        self.by_flux().flat_map(|(brought, listing)| {
            let brought: &'a AppliedSet = brought;
            listing.namespaces.iter().filter_map(move |(name, at)| Some((name, brought.at(*at)?)))
        })
    }

    /// The objects of each applier that live in a namespace and name none; without what was applied by hand.
    pub fn unplaced(&self) -> impl Iterator<Item = Vec<Applied<'a>>> {
        let mut namespaced: BTreeSet<(&str, &str)> = BTreeSet::new();
        if self.by_flux().any(|(_, listing)| !listing.open.is_empty()) {
            for definition in self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
                let said = |keys: &[&str]| definition.object.text_at(keys);
                if let (Some("Namespaced"), Some(group), Some(kind)) =
                    (said(&["spec", "scope"]), said(&["spec", "group"]), said(&["spec", "names", "kind"]))
                {
                    namespaced.insert((group, kind));
                }
            }
        }
        let of_list = move |(brought, listing): &(&'a AppliedSet, Arc<Listing>)| {
            let brought: &'a AppliedSet = brought;
            let needs_one = |object: &Object| namespaced.contains(&(object.group(), object.kind()));
            let open =
                listing.open.iter().filter(|_| !namespaced.is_empty()).filter_map(|at| Some((*at, brought.at(*at)?)));
            let open = open.filter(|(_, applied)| needs_one(applied.object));
            let known = listing.unplaced.iter().filter_map(|at| Some((*at, brought.at(*at)?)));
            let mut all: Vec<(usize, Applied<'a>)> = known.chain(open).collect();
            all.sort_by_key(|(at, _)| *at);
            all.into_iter().map(|(_, applied)| applied).collect::<Vec<_>>()
        };
        self.by_flux().map(of_list).filter(|objects| !objects.is_empty())
    }

    /// What Flux applies, by applier: nobody knows which namespace somebody names who applies by hand.
    pub(super) fn by_flux(&self) -> impl Iterator<Item = &(&'a AppliedSet, Arc<Listing>)> {
        self.lists.iter().filter(|(brought, _)| brought.by.kind != ApplierKind::Bootstrap)
    }

    /// The object of an identity that it receives, of whatever version; of several the first one. Cluster-scoped objects
    /// have the empty namespace.
    pub fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Applied<'a>> {
        let place = self.by_id().first.get(&print(group, kind, namespace, name))?;
        let found = self.at(*place)?;
        let object = found.object;
        let settled = |namespace| settled_namespace(group, kind, namespace);
        let own = object.namespace().unwrap_or_default();
        let is_it =
            object.name() == name && object.is(group, kind) && (own == namespace || settled(own) == settled(namespace));
        is_it.then_some(found)
    }

    /// The objects that come twice: the first one of each identity, and a further one.
    pub fn twice(&self) -> impl Iterator<Item = (Applied<'a>, Applied<'a>)> {
        let pairs = self.by_id().again.iter();
        pairs.filter_map(|(first, again)| Some((self.at(*first)?, self.at(*again)?)))
    }

    /// The objects that SOPS encrypted and nobody decrypts.
    pub fn encrypted(&self) -> impl Iterator<Item = Applied<'a>> {
        let lists = self.lists.iter();
        lists.flat_map(|(brought, listing)| listing.encrypted.iter().filter_map(|at| brought.at(*at)))
    }

    /// What makes `ConfigMap`s and `Secret`s on it without being applied.
    pub fn producers(&self) -> &Producers {
        self.producers.get_or_init(|| {
            let name = if self.receiver.target.is_none() { &self.receiver.cluster.name } else { "" };
            let mut producers = Producers::declared(name, self.external);
            for (brought, _) in &self.lists {
                brought.makers().for_each(|applied| producers.take(applied.object, brought.by.kind));
            }
            producers
        })
    }

    /// What Kustomizations, releases and their like take on it.
    pub(super) fn inputs(&self) -> &[Input<'a>] {
        self.inputs.get_or_init(|| inputs(self))
    }

    /// Who may do what on it.
    pub fn rbac(&self) -> &Rbac {
        self.rbac.get_or_init(|| Rbac::of(&self.receiver, self.context.tenancy))
    }

    /// The kinds that it serves, as far as they are known.
    pub fn kinds(&self) -> &Kinds {
        self.kinds.get_or_init(|| {
            let definitions = self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
            Kinds::of(definitions.map(|applied| applied.object))
        })
    }

    pub(super) fn makers(&self) -> &Makers<'a> {
        self.makers.get_or_init(|| Makers::of(self))
    }

    fn at(&self, (list, at): Place) -> Option<Applied<'a>> {
        let (brought, _) = self.lists.get(list)?;
        let brought: &'a AppliedSet = brought;
        brought.at(at)
    }

    fn by_id(&self) -> &ById {
        self.by_id.get_or_init(|| {
            let mut by_id = ById::default();
            for (list, (_, listing)) in self.lists.iter().enumerate() {
                for (at, print) in listing.prints.iter().enumerate() {
                    let first = *by_id.first.entry_or(*print, || (list, at));
                    if first != (list, at) {
                        by_id.again.push((first, (list, at)));
                    }
                }
            }
            by_id
        })
    }

    /// A ConfigMap or Secret, brought or made: what producers copy from is looked up here.
    pub(super) fn known(&self, kind: &str, namespace: &str, name: &str) -> Option<Object> {
        self.find("", kind, namespace, name).map(|applied| applied.object.clone())
    }
}
