//! The view of one cluster for rules: the objects that it receives, by kind and identity, and facts derived from them.

mod before_flux;
mod partial;
mod releases;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use crate::api::catalog::Catalog;
use crate::base::finding::ObjectRef;
use crate::config;
use crate::flux::{
    Applied, AppliedSet, Applier, ApplierKind, ClusterPrograms, FleetIdentity, FluxVersion, Installation, Producers,
    Receiver, Settings, State, Tenancy,
};
use crate::kube::{Object, ObjectId, Scope, groups, scope_of};
use crate::lint::context::Context;
use crate::lint::facts::artifacts::GeneratedArtifacts;
use crate::lint::facts::by_identity::{ByIdentity, ListPosition};
use crate::lint::facts::identity_hash::kind_hash;
use crate::lint::facts::inputs::{Input, Reader, inputs};
use crate::lint::facts::listing::Listing;
use crate::lint::facts::makers::custom_resources::CustomResources;
use crate::lint::facts::makers::generator_words::GeneratorWords;
use crate::lint::facts::makers::requested_namespaces::RequestedNamespaces;
use crate::lint::facts::makers::writers::Writers;
use crate::lint::facts::pods::labels::{PodLabels, WORKLOADS};
use crate::lint::facts::unknown_sources::UnknownSources;
use crate::lint::facts::written_objects::WrittenObjects;
use crate::lint::refs::dependency::DEPENDENTS;
use crate::lint::refs::source_reference::{BUILT_FROM_SOURCES, source_of};
use crate::lint::refs::waiting::Waiting;
use crate::rbac::{Account, Kinds, Rbac, Tenants};
use crate::text::Index;
use crate::yaml::Name;

/// A view of one cluster for rules.
///
/// A remote cluster, to which the Flux of another cluster applies objects with `kubeConfig`, has a view of its own.
/// That view does not contain the objects of the other cluster.
pub struct View<'a> {
    /// The cluster, or the target of a `kubeConfig`.
    pub receiver: Receiver<'a>,
    /// The context, which rules that check single objects may also read.
    pub context: Context<'a>,
    /// The position of the first view that is alike: the rules find the same faults in it, at other positions.
    pub(in crate::lint) first: usize,
    pub(in crate::lint) lists: Vec<(&'a AppliedSet, Arc<Listing>)>,
    /// The kustomizations that install Flux on the cluster.
    pub(in crate::lint) installations: Vec<&'a Installation>,
    pub(in crate::lint) before_flux: BeforeFlux<'a>,
    /// The objects that the files of the repository define, for any cluster or none.
    pub(in crate::lint) written: Arc<WrittenObjects<'a>>,
    settings: &'a Settings,
    positions: Arc<Positions>,
    appliers_by_object: Arc<AppliersByObject<'a>>,
    producers: OnceLock<Producers>,
    unknown_sources: OnceLock<UnknownSources<'a>>,
    waiting: OnceLock<Waiting<'a>>,
    rbac: OnceLock<Rbac>,
    tenants: OnceLock<Tenants>,
    kinds: OnceLock<Kinds>,
    catalog: OnceLock<Arc<Catalog>>,
    inputs: OnceLock<Vec<Input<'a>>>,
    /// Whether an account has no escape from its rights.
    pub(in crate::lint) confined: Mutex<BTreeMap<Account, bool>>,
    flux_version: OnceLock<Option<FluxVersion>>,
    open_names: OnceLock<Index<u64, Vec<ObjectId<'a>>>>,
    generated_artifacts: OnceLock<GeneratedArtifacts<'a>>,
    pod_labels: OnceLock<PodLabels<'a>>,
    /// The words of the policies and templates that may create objects.
    pub(in crate::lint) generators: OnceLock<GeneratorWords<'a>>,
    writers: OnceLock<Writers<'a>>,
    requested_namespaces: OnceLock<RequestedNamespaces<'a>>,
    custom_resources: OnceLock<CustomResources<'a>>,
    /// The API groups of the CRDs that objects of the cluster may install.
    pub(in crate::lint) installed_groups: OnceLock<BTreeSet<&'a str>>,
    /// The objects that each applier applies to the cluster, by the object of the applier.
    sets_of_appliers: OnceLock<Index<ObjectId<'a>, &'a AppliedSet>>,
}

/// The lists of objects that a cluster receives.
pub(in crate::lint) struct Received<'a> {
    /// The position of the first view that is alike.
    pub(in crate::lint) first: usize,
    pub(in crate::lint) lists: Vec<(&'a AppliedSet, Arc<Listing>)>,
    pub(in crate::lint) positions: Arc<Positions>,
    pub(in crate::lint) appliers_by_object: Arc<AppliersByObject<'a>>,
}

/// The positions of the appliers of a cluster, by their objects. All receivers of the cluster share them.
pub(in crate::lint) type AppliersByObject<'a> = OnceLock<Index<ObjectId<'a>, usize>>;

/// The positions of objects by identity and kind. Clusters that are alike share them.
#[derive(Default)]
pub(in crate::lint) struct Positions {
    by_identity: OnceLock<ByIdentity>,
    by_kind: OnceLock<Index<u64, Vec<usize>>>,
}

/// The objects that users and other programs create on a cluster.
#[derive(Debug, Clone, Copy)]
pub(in crate::lint) struct BeforeFlux<'a> {
    /// The objects that the configuration declares.
    pub(in crate::lint) external: &'a [config::Declared],
    /// The programs whose files are in the repository.
    pub(in crate::lint) programs: ClusterPrograms<'a>,
}

impl<'a> View<'a> {
    pub(in crate::lint) fn new(
        receiver: Receiver<'a>,
        context: Context<'a>,
        Received { first, lists, positions, appliers_by_object }: Received<'a>,
        installations: Vec<&'a Installation>,
        settings: &'a Settings,
        programs: ClusterPrograms<'a>,
        written: Arc<WrittenObjects<'a>>,
    ) -> Self {
        Self {
            receiver,
            context,
            first,
            lists,
            installations,
            before_flux: BeforeFlux { external: &settings.config.external, programs },
            written,
            settings,
            positions,
            appliers_by_object,
            producers: OnceLock::new(),
            unknown_sources: OnceLock::new(),
            waiting: OnceLock::new(),
            rbac: OnceLock::new(),
            tenants: OnceLock::new(),
            kinds: OnceLock::new(),
            catalog: OnceLock::new(),
            inputs: OnceLock::new(),
            confined: Mutex::default(),
            flux_version: OnceLock::new(),
            open_names: OnceLock::new(),
            generated_artifacts: OnceLock::new(),
            pod_labels: OnceLock::new(),
            generators: OnceLock::default(),
            writers: OnceLock::new(),
            requested_namespaces: OnceLock::new(),
            custom_resources: OnceLock::new(),
            installed_groups: OnceLock::new(),
            sets_of_appliers: OnceLock::new(),
        }
    }

    /// The tenancy of the cluster: its tenants and their isolation settings.
    pub fn tenancy(&self) -> &'a Tenancy {
        self.context.tenancy
    }

    /// Returns whether the repository describes the whole cluster. Without a root, other appliers may exist.
    pub fn is_whole(&self) -> bool {
        !self.receiver.cluster.name.is_empty()
    }

    /// The appliers that apply objects to the cluster.
    pub fn appliers(&self) -> impl Iterator<Item = &'a Arc<Applier>> + use<'a> {
        self.receiver.appliers()
    }

    /// The objects that the cluster receives, ordered by applier.
    pub fn objects(&self) -> impl Iterator<Item = Applied<'a>> {
        self.lists.iter().flat_map(|(brought, _)| brought.applied())
    }

    /// The lists of objects that the cluster receives, one for each applier.
    pub fn applied_sets(&self) -> impl Iterator<Item = &'a AppliedSet> {
        self.lists.iter().map(|(brought, _)| *brought)
    }

    /// The objects of a group and kind in any version, ordered by applier.
    pub fn of_kind(&self, group: &str, kind: &str) -> impl Iterator<Item = Applied<'a>> {
        let hash = kind_hash(group, kind);
        let lists = self.by_kind().get(&hash).map_or(&[][..], Vec::as_slice);
        let objects = lists.iter().filter_map(|list| self.lists.get(*list)).flat_map(|(brought, listing)| {
            let brought: &'a AppliedSet = brought;
            listing.of_kind(hash).iter().filter_map(move |at| brought.at(*at))
        });
        objects.collect::<Vec<_>>().into_iter()
    }

    /// The namespaces of the objects that Flux applies, each with the first object of each applier.
    pub fn namespaces(&self) -> impl Iterator<Item = (&Name, Applied<'a>)> {
        self.by_flux().flat_map(|(brought, listing)| {
            let brought: &'a AppliedSet = brought;
            listing.namespaces.iter().filter_map(move |(name, at)| Some((name, brought.at(*at)?)))
        })
    }

    /// The objects with a namespace that Flux applies, each with its namespace.
    pub(in crate::lint) fn namespaced_objects(&self) -> impl Iterator<Item = (&'a str, Applied<'a>)> {
        let objects = self.by_flux().flat_map(|(brought, _)| {
            let brought: &'a AppliedSet = brought;
            brought.applied()
        });
        objects.filter_map(|applied| {
            let object = applied.object;
            let is_namespaced = scope_of(object.group(), object.kind()) != Scope::Cluster;
            Some((object.namespace().filter(|_| is_namespaced)?, applied))
        })
    }

    /// The namespaced objects without a namespace that Flux applies, by applier.
    pub fn without_namespace(&self) -> impl Iterator<Item = Vec<Applied<'a>>> {
        let mut namespaced: BTreeSet<(&str, &str)> = BTreeSet::new();
        if self.by_flux().any(|(_, listing)| !listing.unknown_scope.is_empty()) {
            for definition in self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
                let text = |keys: &[&str]| definition.object.text_at(keys);
                if let (Some("Namespaced"), Some(group), Some(kind)) =
                    (text(&["spec", "scope"]), text(&["spec", "group"]), text(&["spec", "names", "kind"]))
                {
                    namespaced.insert((group, kind));
                }
            }
        }
        let of_list = move |(brought, listing): &(&'a AppliedSet, Arc<Listing>)| {
            let brought: &'a AppliedSet = brought;
            let is_namespaced = |object: &Object| namespaced.contains(&(object.group(), object.kind()));
            let unknown = listing.unknown_scope.iter().filter(|_| !namespaced.is_empty());
            let defined = unknown.filter_map(|at| Some((*at, brought.at(*at)?)));
            let defined = defined.filter(|(_, applied)| is_namespaced(applied.object));
            let known = listing.without_namespace.iter().filter_map(|at| Some((*at, brought.at(*at)?)));
            let mut all: Vec<(usize, Applied<'a>)> = known.chain(defined).collect();
            all.sort_by_key(|(at, _)| *at);
            if all.iter().any(|(at, _)| !brought.lacks_changes.contains(at)) {
                all.retain(|(at, _)| !brought.lacks_changes.contains(at));
            }
            all.into_iter().map(|(_, applied)| applied).collect::<Vec<_>>()
        };
        self.by_flux().map(of_list).filter(|objects| !objects.is_empty())
    }

    /// The lists that Flux applies, without the objects that users apply by hand.
    ///
    /// Users who apply objects by hand may choose any namespace, cluster and order.
    pub(in crate::lint) fn by_flux(&self) -> impl Iterator<Item = &(&'a AppliedSet, Arc<Listing>)> {
        self.lists.iter().filter(|(brought, _)| brought.by.kind != ApplierKind::Bootstrap)
    }

    /// The first object with an identity that the cluster receives, in any version.
    ///
    /// Cluster-scoped objects have the empty namespace.
    pub fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Applied<'a>> {
        self.get(ObjectId { group, kind, namespace, name })
    }

    /// The first object with an identity that the cluster receives, in any version.
    pub fn get(&self, id: ObjectId<'_>) -> Option<Applied<'a>> {
        let position = self.by_identity().first(id)?;
        let found = self.at(position)?;
        let own = ObjectId::of(found.object);
        // Different identities may have the same hash.
        (own == id || own.settled() == id.settled()).then_some(found)
    }

    /// The position of the applier that an object defines, among all appliers of the cluster whose Flux applies the objects.
    pub(in crate::lint) fn applier_at(&self, id: ObjectId<'_>) -> Option<usize> {
        let positions = self.appliers_by_object.get_or_init(|| {
            let mut positions: Index<ObjectId<'a>, usize> = Index::default();
            let appliers = self.receiver.cluster.appliers.iter().filter(|one| one.kind != ApplierKind::Bootstrap);
            for (object, applier) in appliers.filter_map(|applier| Some((applier.object.as_ref()?, applier))) {
                positions.entry_or(ObjectId::of(object).settled(), || applier.at);
            }
            positions
        });
        positions.get(&id.settled()).copied()
    }

    /// The objects of a Kustomization or another applier, if the applier applies them to this cluster.
    pub(in crate::lint) fn applied_by(&self, applier: &Object) -> Option<&'a AppliedSet> {
        let sets = self.sets_of_appliers.get_or_init(|| {
            let mut sets: Index<ObjectId<'a>, &'a AppliedSet> = Index::default();
            for set in self.applied_sets() {
                if let Some(own) = &set.by.object {
                    sets.entry_or(ObjectId::of(own), || set);
                }
            }
            sets
        });
        sets.get(&ObjectId::of(applier)).copied()
    }

    /// The pairs of objects whose identities have the same hash: the first object, and a further object.
    pub fn duplicates(&self) -> impl Iterator<Item = (Applied<'a>, Applied<'a>)> {
        let pairs = self.by_identity().duplicates();
        pairs.filter_map(|(first, further)| Some((self.at(*first)?, self.at(*further)?)))
    }

    /// The SOPS-encrypted objects that their appliers do not decrypt.
    pub fn encrypted(&self) -> impl Iterator<Item = Applied<'a>> {
        let lists = self.lists.iter();
        lists.flat_map(|(brought, listing)| listing.encrypted.iter().filter_map(|at| brought.at(*at)))
    }

    /// The objects of a kind whose name or namespace contains a variable.
    pub(in crate::lint) fn with_open_names(&self, group: &str, kind: &str) -> &[ObjectId<'a>] {
        let by_kind = self.open_names.get_or_init(|| {
            let mut by_kind: Index<u64, Vec<ObjectId<'a>>> = Index::default();
            for (brought, listing) in &self.lists {
                let brought: &'a AppliedSet = brought;
                for id in listing.open_names.iter().filter_map(|at| Some(ObjectId::of(brought.at(*at)?.object))) {
                    by_kind.entry(kind_hash(id.group, id.kind)).push(id);
                }
            }
            by_kind
        });
        by_kind.get(&kind_hash(group, kind)).map_or(&[], Vec::as_slice)
    }

    /// The producers of `ConfigMap` and `Secret` objects that appliers do not apply to the cluster.
    pub fn producers(&self) -> &Producers {
        self.producers.get_or_init(|| {
            let name = if self.receiver.target.is_none() { &self.receiver.cluster.name } else { "" };
            let mut producers = Producers::declared(name, self.before_flux.external);
            for (brought, _) in &self.lists {
                brought.makers().for_each(|applied| producers.take(applied.object, brought.by.kind));
            }
            producers
        })
    }

    /// The object of an applier to which the cluster owes an object: the object itself, or the object from which a
    /// controller creates it.
    pub(in crate::lint) fn maker(&self, id: ObjectId<'_>) -> Option<Applied<'a>> {
        self.get(id).or_else(|| {
            let is_config = id.group.is_empty() && matches!(id.kind, "ConfigMap" | "Secret");
            let known = |kind: &str, namespace: &str, name: &str| self.config_object(kind, namespace, name);
            let found = || self.producers().find(id.kind, id.namespace, id.name, &known);
            let by = is_config.then(found)?.filter(|found| !found.has_computed_name)?.by?;
            self.find(by.group(), &by.kind, by.namespace.as_deref().unwrap_or_default(), &by.name)
        })
    }

    /// The objects that Kustomizations, releases and other Flux objects read from on the cluster.
    pub(in crate::lint) fn inputs(&self) -> &[Input<'a>] {
        self.inputs.get_or_init(|| {
            let appliers = self.receiver.cluster.appliers.iter();
            // Kustomizations are objects of the cluster that runs Flux, even if they apply objects to another cluster.
            let kustomizations =
                appliers.filter(|by| by.kind == ApplierKind::Kustomization && self.receiver.target.is_none());
            let kustomizations = kustomizations.filter_map(|by| {
                let object = by.object.as_ref()?;
                Some(Reader { object, by, is_itself: true })
            });
            let others = BUILT_FROM_SOURCES.into_iter().filter(|kind| *kind != (groups::KUSTOMIZE, "Kustomization"));
            let others = others.flat_map(|(group, kind)| self.of_kind(group, kind));
            let others = others.map(|applied| Reader { object: applied.object, by: applied.by, is_itself: false });
            inputs(kustomizations.chain(others), |id| self.maker(id))
        })
    }

    /// The access rights on the cluster.
    pub fn rbac(&self) -> &Rbac {
        self.rbac.get_or_init(|| Rbac::on_cluster(&self.receiver, self.context.tenancy))
    }

    /// The tenants of the cluster with their service accounts; none without multi-tenancy.
    pub fn tenants(&self) -> &Tenants {
        self.tenants.get_or_init(|| {
            if self.receiver.target.is_some() || !self.tenancy().multi_tenant {
                return Tenants::default();
            }
            Tenants::new(self.tenancy(), self.rbac())
        })
    }

    /// The kinds that the cluster serves, as far as they are known.
    pub fn kinds(&self) -> &Kinds {
        self.kinds.get_or_init(|| {
            let definitions = self.of_kind("apiextensions.k8s.io", "CustomResourceDefinition");
            Kinds::with_definitions(definitions.map(|applied| applied.object))
        })
    }

    /// The producers of the cluster with unknown contents, such as charts.
    pub(in crate::lint) fn unknown_sources(&self) -> &UnknownSources<'a> {
        self.unknown_sources.get_or_init(|| {
            let lacks = |source: &ObjectRef| self.lacks(source);
            let source_of = |object: &Object| {
                let ObjectId { group, kind, namespace, name } = source_of(object)?.target;
                self.find(group, kind, namespace, name).map(|found| found.object)
            };
            let releases = self.of_kind(groups::HELM, "HelmRelease");
            let find = |kind: &str, namespace: &str, name: &str| {
                self.find(groups::SOURCE, kind, namespace, name).map(|applied| applied.object.clone())
            };
            let kinds_of = |release: &Applied<'a>| {
                self.receiver.cluster.chart(release, self.written.sources()?, &find).ok()?.kinds()
            };
            UnknownSources::collect(
                self.applied_sets(),
                releases,
                self.appliers(),
                source_of,
                kinds_of,
                &self.fleet_identity(),
                lacks,
            )
        })
    }

    /// The Flux objects that wait for other objects, on the cluster itself and on the cluster whose Flux applies them.
    pub(in crate::lint) fn waiting(&self) -> &Waiting<'a> {
        self.waiting.get_or_init(|| {
            let appliers = self.receiver.cluster.appliers.iter().filter_map(|applier| applier.object.as_ref());
            let own = DEPENDENTS.into_iter().flat_map(|(group, kind)| self.of_kind(group, kind));
            Waiting::of(appliers.chain(own.map(|applied| applied.object)))
        })
    }

    /// The identity of the fleet, from the repository that the cluster's Flux reconciles.
    fn fleet_identity(&self) -> FleetIdentity {
        // Another applier may use the source of another repository, or a source that does not exist.
        let of_root = self.appliers().filter(|applier| applier.is_of_root());
        let roots = of_root.chain(self.appliers().filter(|one| one.state == State::Built));
        let source = roots.chain(self.appliers()).find_map(|applier| applier.source.as_ref());
        let found = source
            .and_then(|source| self.find(source.group(), &source.kind, source.namespace.as_deref()?, &source.name));
        let url = found.and_then(|found| found.object.text_at(&["spec", "url"]));
        let kinds = ["GitRepository", "HelmRepository", "OCIRepository"];
        let sources = kinds.iter().flat_map(|kind| self.of_kind(groups::SOURCE, kind));
        FleetIdentity::new(url, sources.map(|applied| applied.object))
    }

    /// Returns whether the cluster does not have a source.
    fn lacks(&self, source: &ObjectRef) -> bool {
        let namespace = source.namespace.as_deref().unwrap_or_default();
        let is_generated = &*source.kind == "ExternalArtifact" && self.may_generate_artifact(namespace, &source.name);
        !is_generated && self.find(source.group(), &source.kind, namespace, &source.name).is_none()
    }

    /// Returns whether a controller on the cluster may generate an `ExternalArtifact`.
    pub(in crate::lint) fn may_generate_artifact(&self, namespace: &str, name: &str) -> bool {
        self.generated_artifacts().may_contain(namespace, name)
    }

    /// The artifacts that the generators of the cluster create.
    pub(in crate::lint) fn generated_artifacts(&self) -> &GeneratedArtifacts<'a> {
        self.generated_artifacts
            .get_or_init(|| GeneratedArtifacts::of(self.of_kind(groups::SOURCE_EXTENSIONS, "ArtifactGenerator")))
    }

    /// The labels of the pods of the cluster.
    pub(in crate::lint) fn pod_labels(&self) -> &PodLabels<'a> {
        self.pod_labels
            .get_or_init(|| PodLabels::of(WORKLOADS.iter().flat_map(|(group, kind)| self.of_kind(group, kind))))
    }

    /// The roles that allow accounts to write Secrets and ConfigMaps with certain names.
    pub(in crate::lint) fn writers(&self) -> &Writers<'a> {
        self.writers
            .get_or_init(|| Writers::of(self.of_kind(groups::RBAC, "Role"), self.of_kind(groups::RBAC, "ClusterRole")))
    }

    /// The namespaces that objects of the cluster request.
    pub(in crate::lint) fn requested_namespaces(&self) -> &RequestedNamespaces<'a> {
        self.requested_namespaces.get_or_init(|| RequestedNamespaces::of(|group, kind| self.of_kind(group, kind)))
    }

    /// The objects that operators may create for the custom resources of the cluster.
    pub(in crate::lint) fn custom_resources(&self) -> &CustomResources<'a> {
        self.custom_resources.get_or_init(|| CustomResources::of(self.objects()))
    }

    fn at(&self, (list, at): ListPosition) -> Option<Applied<'a>> {
        let (brought, _) = self.lists.get(list)?;
        let brought: &'a AppliedSet = brought;
        brought.at(at)
    }

    /// The positions of the lists that contain objects of a kind, by the hash of the kind.
    fn by_kind(&self) -> &Index<u64, Vec<usize>> {
        self.positions.by_kind.get_or_init(|| {
            let mut by_kind: Index<u64, Vec<usize>> = Index::default();
            for (list, (_, listing)) in self.lists.iter().enumerate() {
                listing.kinds.iter().for_each(|kind| by_kind.entry(*kind).push(list));
            }
            by_kind
        })
    }

    fn by_identity(&self) -> &ByIdentity {
        self.positions.by_identity.get_or_init(|| ByIdentity::index(self.lists.iter().map(|(_, listing)| &**listing)))
    }

    /// A ConfigMap or Secret that the cluster receives. Producers may copy its data.
    pub(in crate::lint) fn config_object(&self, kind: &str, namespace: &str, name: &str) -> Option<Object> {
        self.find("", kind, namespace, name).map(|applied| applied.object.clone())
    }
}
