//! The inventory of a build: its objects by identity and role, computed once for all clusters that share the build.

use crate::kube::groups;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use super::applier_spec::ApplierSpec;
use super::chart_namespace::chart_namespace;
use super::shared_specs::SharedSpecs;
use crate::flux::install::version::is_controller;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::model::objects::Objects;
use crate::flux::object::kinds::{concerns_tenancy, is_kustomization, is_source};
use crate::flux::producer::is_producer;
use crate::flux::resourceset::{is_input_provider, is_resource_set};
use crate::flux::unknown::injected_variables::injects_variables;
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::text::Index;
use crate::yaml::{Name, Value};

/// The objects of a build by identity and role.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// The appliers, and the objects that appliers look up.
    indexed: Vec<Arc<IndexedObject>>,
    layout: Arc<Layout>,
}

/// The roles and positions of objects. Builds that differ only in values share one layout.
#[derive(Debug, Default)]
struct Layout {
    /// The role of each object.
    roles: Vec<Role>,
    /// The positions of the objects that concern tenancy.
    tenancy_objects: Vec<usize>,
    /// The positions of the indexed objects.
    indexed: Vec<usize>,
    /// The fingerprints of the indexed objects, sorted, with their positions among the indexed objects.
    indexed_by_fingerprint: Vec<(u64, usize)>,
    /// The fingerprints of all objects, sorted.
    fingerprints: Vec<u64>,
    /// The namespaces in which Helm charts create objects.
    charts: BTreeSet<Name>,
    /// Whether an object allows a webhook to add variables to Kustomizations.
    injects_variables: bool,
}

/// An applier, or an object that appliers look up.
#[derive(Debug, Clone)]
pub(crate) struct IndexedObject {
    pub(crate) key: Arc<ObjectKey>,
    pub(crate) object: Object,
    /// The specification, if the object is an applier.
    pub(crate) spec: Option<Arc<ApplierSpec>>,
    role: Role,
}

/// An entry of an inventory for a changed object; the inner `None` if no applier looks up the object.
type ChangedEntry = Option<Arc<IndexedObject>>;

/// The entries of changed objects, by the address of the object. Clusters with equal variables share these objects.
#[derive(Default)]
pub(crate) struct ChangedObjects(Mutex<Index<usize, (Object, ChangedEntry)>>);

impl ChangedObjects {
    /// The entry of a changed object; `None` if the change affects an identity or a role.
    fn entry(&self, new: &Object, make: impl FnOnce() -> Option<ChangedEntry>) -> Option<ChangedEntry> {
        // Each cluster has its own ConfigMaps of variables, so their entries are not shared.
        let Value::Map(entries) = &new.node.value else { return make() };
        if new.kind() == "ConfigMap" {
            return make();
        }
        let address = entries.as_ptr().addr();
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, entry)) = known().get(&address) {
            return Some(entry.clone());
        }
        let entry = make()?;
        // The entry keeps the object, so that its address is not used again.
        known().insert(address, (new.clone(), entry.clone()));
        Some(entry)
    }
}

/// The role of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// No role.
    None,
    /// An object that appliers look up by name.
    Named,
    /// An object from which a controller creates other objects, or that appliers list by namespace.
    Maker,
    /// The Deployment of kustomize-controller.
    Controller,
    /// An applier of other objects.
    Applier(ApplierKind),
}

/// A hash of the identity of an object. Objects with different fingerprints have different identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u64);

impl Inventory {
    /// Indexes objects.
    pub(crate) fn new<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Self {
        Self::with_specs(objects, &SharedSpecs::default())
    }

    /// Indexes the objects of a build. Copies of a Kustomization share their specifications.
    pub(crate) fn with_specs<'a>(objects: impl IntoIterator<Item = &'a Object>, specs: &SharedSpecs) -> Self {
        let (mut layout, mut indexed) = (Layout::default(), Vec::new());
        for (at, object) in objects.into_iter().enumerate() {
            let (role, fingerprint) = (Role::of(object), fingerprint(object));
            layout.roles.push(role);
            layout.fingerprints.push(fingerprint);
            if concerns_tenancy(object) {
                layout.tenancy_objects.push(at);
            }
            if let Some(namespace) = chart_namespace(object).filter(|known| !layout.charts.contains(*known)) {
                layout.charts.insert(namespace.into());
            }
            layout.injects_variables |= injects_variables(object);
            if role != Role::None {
                layout.indexed_by_fingerprint.push((fingerprint, indexed.len()));
                layout.indexed.push(at);
                indexed.push(Arc::new(IndexedObject::new(object, role, specs)));
            }
        }
        layout.fingerprints.sort_unstable();
        layout.indexed_by_fingerprint.sort_unstable();
        Self { indexed, layout: Arc::new(layout) }
    }

    /// The inventory after changes to the objects at some positions. `None` if a change affects an identity, a role,
    /// tenancy or the namespace of a chart: the changed objects then need a new inventory.
    pub(crate) fn changed(
        self: &Arc<Self>,
        objects: &Objects,
        changed: &[(usize, Object)],
        cache: &ChangedObjects,
    ) -> Option<Arc<Self>> {
        let layout = &self.layout;
        let is_alike = |at: usize, new: &Object| {
            let tells_as_before = layout.tenancy_objects.binary_search(&at).is_ok() == concerns_tenancy(new);
            let old = &objects[at];
            let into_as_before = chart_namespace(old) == chart_namespace(new);
            identity(old) == identity(new) && tells_as_before && into_as_before && layout.roles[at] == Role::of(new)
        };
        let mut indexed: Option<Vec<Arc<IndexedObject>>> = None;
        for (at, new) in changed {
            let position = layout.indexed.binary_search(at).ok();
            let entry = cache.entry(new, || {
                let role = layout.roles[*at];
                let key = |position: usize| self.indexed[position].key.clone();
                is_alike(*at, new)
                    .then(|| position.map(|position| Arc::new(IndexedObject::changed(new, role, key(position)))))
            })?;
            if let (Some(position), Some(entry)) = (position, entry) {
                indexed.get_or_insert_with(|| self.indexed.clone())[position] = entry;
            }
        }
        Some(indexed.map_or_else(|| self.clone(), |indexed| Arc::new(Self { indexed, layout: layout.clone() })))
    }

    /// Returns whether there are no indexed objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.indexed.is_empty()
    }

    /// Returns whether both inventories share one layout, so that their objects have the same identities.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.layout, &other.layout)
    }

    /// The fingerprints of the indexed objects.
    pub(crate) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> {
        self.layout.indexed_by_fingerprint.iter().map(|(fingerprint, _)| Fingerprint(*fingerprint))
    }

    /// The keys of the indexed objects.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &ObjectKey> {
        self.indexed.iter().map(|indexed| &*indexed.key)
    }

    /// The indexed objects that are appliers.
    pub(crate) fn appliers(&self) -> impl Iterator<Item = &IndexedObject> {
        self.indexed.iter().map(|indexed| &**indexed).filter(|indexed| matches!(indexed.role, Role::Applier(_)))
    }

    /// The indexed objects from which controllers create other objects, and the indexed objects that appliers list by
    /// namespace.
    pub(crate) fn makers(&self) -> impl Iterator<Item = &IndexedObject> {
        self.indexed.iter().map(|indexed| &**indexed).filter(|indexed| indexed.role == Role::Maker)
    }

    /// The Deployments of kustomize-controller.
    pub(crate) fn controllers(&self) -> impl Iterator<Item = &IndexedObject> {
        self.indexed.iter().map(|indexed| &**indexed).filter(|indexed| indexed.role == Role::Controller)
    }

    /// The positions of the objects that concern tenancy.
    pub(crate) fn tenancy_objects(&self) -> &[usize] {
        &self.layout.tenancy_objects
    }

    /// Returns whether an object allows a webhook to add variables to Kustomizations.
    pub(crate) fn injects_variables(&self) -> bool {
        self.layout.injects_variables
    }

    /// The namespaces in which Helm charts create objects.
    pub(crate) fn charts(&self) -> &BTreeSet<Name> {
        &self.layout.charts
    }

    /// The indexed object with an identity. The second argument is the fingerprint of that identity. If two objects
    /// have the same identity, the first one has precedence.
    pub(crate) fn get(&self, id: ObjectId<'_>, Fingerprint(fingerprint): Fingerprint) -> Option<&IndexedObject> {
        let known = &self.layout.indexed_by_fingerprint;
        let first = known.partition_point(|(other, _)| *other < fingerprint);
        let alike = known.iter().skip(first).take_while(|(other, _)| *other == fingerprint);
        alike.map(|(_, at)| &*self.indexed[*at]).find(|indexed| indexed.key.id() == id)
    }

    /// The identities of the objects with some fingerprints. `objects` must be all objects of the build.
    pub(crate) fn identities_of<'o>(&self, objects: &'o Objects, wanted: &Index<Fingerprint, ()>) -> Vec<ObjectId<'o>> {
        if !self.layout.fingerprints.iter().any(|own| wanted.contains(&Fingerprint(*own))) {
            return Vec::new();
        }
        objects.iter().map(identity).filter(|id| wanted.contains(&Fingerprint::of(*id))).collect()
    }
}

impl Fingerprint {
    /// The fingerprint of a settled identity.
    pub(crate) fn of(identity: ObjectId<'_>) -> Self {
        Self(hash(identity))
    }
}

impl IndexedObject {
    fn new(object: &Object, role: Role, specs: &SharedSpecs) -> Self {
        let key = || Arc::new(ObjectKey::of(object));
        let spec = role.applier().map(|kind| Arc::new(specs.read(kind, object, key)));
        let key = spec.as_ref().map_or_else(key, |spec| spec.key().clone());
        Self { key, object: object.clone(), spec, role }
    }

    /// The object after a change that keeps its identity.
    fn changed(object: &Object, role: Role, key: Arc<ObjectKey>) -> Self {
        let spec = role.applier().map(|kind| Arc::new(ApplierSpec::read(kind, object, || key.clone())));
        Self { key, object: object.clone(), spec, role }
    }
}

impl Role {
    /// The kind of the applier, if the object is one.
    fn applier(self) -> Option<ApplierKind> {
        match self {
            Self::Applier(kind) => Some(kind),
            Self::None | Self::Named | Self::Maker | Self::Controller => None,
        }
    }

    fn of(object: &Object) -> Self {
        if let Some(kind) = applies_as(object) {
            Self::Applier(kind)
        } else if !is_looked_up(object) {
            Self::None
        } else if is_controller(object) {
            Self::Controller
        } else if is_input_provider(object) || object.kind() == "ArtifactGenerator" || is_producer(object) {
            Self::Maker
        } else {
            Self::Named
        }
    }
}

impl Fingerprint {
    /// The fingerprint of an identity with the namespace that the API server uses.
    pub(crate) fn new(id: ObjectId<'_>) -> Self {
        Self(hash(id))
    }
}

/// The kind of an applier; `None` for other objects.
fn applies_as(object: &Object) -> Option<ApplierKind> {
    match object.kind() {
        "Kustomization" if is_kustomization(object) => Some(ApplierKind::Kustomization),
        "ResourceSet" if is_resource_set(object) => Some(ApplierKind::ResourceSet),
        "FluxInstance" if object.is(groups::FLUX_OPERATOR, "FluxInstance") => Some(ApplierKind::FluxInstance),
        _ => None,
    }
}

fn identity(object: &Object) -> ObjectId<'_> {
    ObjectId::of(object).settled()
}

fn fingerprint(object: &Object) -> u64 {
    hash(identity(object))
}

fn hash(identity: ObjectId<'_>) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    identity.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether an applier may look up an object.
fn is_looked_up(object: &Object) -> bool {
    match object.group() {
        "" => matches!(object.kind(), "ConfigMap" | "Secret" | "Namespace"),
        "apps" => is_controller(object),
        groups::FLUX_OPERATOR => true,
        groups::SOURCE_EXTENSIONS => object.kind() == "ArtifactGenerator",
        _ => is_kustomization(object) || is_source(object) || is_producer(object),
    }
}
