//! What others ask about the objects of a build, found once for all clusters that share it.

use crate::flux::object::kinds::is_source;
use crate::kube::groups;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use super::applier_spec::Asks;
use super::chart_namespace::chart_into;
use crate::flux::install::version::is_controller;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::model::objects::Objects;
use crate::flux::object::kinds::is_kustomization;
use crate::flux::object::kinds::tells;
use crate::flux::producer::makes_others;
use crate::flux::resourceset::{is_input_provider, is_resource_set};
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::yaml::Name;

/// What others ask about the objects of a build.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// The objects that others look up, or that apply further ones.
    pub(crate) held: Vec<Held>,
    layout: Arc<Layout>,
}

/// Which objects stand where: builds whose values alone differ share it.
#[derive(Debug, Default)]
struct Layout {
    /// What each object is to others.
    roles: Vec<Role>,
    /// The objects that say something about tenants, by position among all.
    telling: Vec<usize>,
    /// The held ones, by position among all.
    held: Vec<usize>,
    /// The held ones by their prints, sorted, with their positions among the held ones.
    held_by_print: Vec<(u64, usize)>,
    /// The prints of all objects, sorted.
    prints: Vec<u64>,
    /// The namespaces that charts bring objects to.
    charts: BTreeSet<Name>,
}

/// An object that others look up, or that applies further ones.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) key: ObjectKey,
    pub(crate) object: Object,
    /// What it asks for, if it applies anything.
    pub(crate) asks: Option<Arc<Asks>>,
    role: Role,
}

/// What an object is to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Nothing.
    None,
    /// It is looked up by its name.
    Named,
    /// It makes others, or is looked up in lists.
    Maker,
    /// It is a Deployment of kustomize-controller.
    Controller,
    /// It applies others.
    Applier(ApplierKind),
}

/// A hash of an object's identity: what differs is certainly another object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Print(u64);

impl Inventory {
    /// Looks through the objects of a build.
    pub(crate) fn of<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Self {
        let (mut layout, mut held) = (Layout::default(), Vec::new());
        for (at, object) in objects.into_iter().enumerate() {
            let (role, print) = (Role::of(object), print(object));
            layout.roles.push(role);
            layout.prints.push(print);
            if tells(object) {
                layout.telling.push(at);
            }
            if let Some(namespace) = chart_into(object).filter(|known| !layout.charts.contains(*known)) {
                layout.charts.insert(namespace.into());
            }
            if role != Role::None {
                layout.held_by_print.push((print, held.len()));
                layout.held.push(at);
                held.push(Held::of(object, role));
            }
        }
        layout.prints.sort_unstable();
        layout.held_by_print.sort_unstable();
        Self { held, layout: Arc::new(layout) }
    }

    /// The same after some of the objects became others, by position; `None` when it has to be made anew, since one
    /// is not to others what it was, or has another identity.
    pub(crate) fn changed(self: &Arc<Self>, objects: &Objects, changed: &[(usize, Object)]) -> Option<Arc<Self>> {
        let layout = &self.layout;
        let is_alike = |(at, new): &(usize, Object)| {
            let tells_as_before = layout.telling.binary_search(at).is_ok() == tells(new);
            let old = &objects[*at];
            let into_as_before = chart_into(old) == chart_into(new);
            identity(old) == identity(new) && tells_as_before && into_as_before && layout.roles[*at] == Role::of(new)
        };
        if !changed.iter().all(is_alike) {
            return None;
        }
        let mut held: Option<Vec<Held>> = None;
        for (at, new) in changed {
            if let Ok(position) = layout.held.binary_search(at) {
                held.get_or_insert_with(|| self.held.clone())[position] = Held::of(new, layout.roles[*at]);
            }
        }
        Some(held.map_or_else(|| self.clone(), |held| Arc::new(Self { held, layout: layout.clone() })))
    }

    /// Tells whether two are of objects of the same identities.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.layout, &other.layout)
    }

    /// The held objects that apply others.
    pub(crate) fn appliers(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| matches!(held.role, Role::Applier(_)))
    }

    /// The held ones that more is known by than their names: they make others, or are looked up in lists.
    pub(crate) fn makers(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| held.role == Role::Maker)
    }

    /// The Deployments of kustomize-controller.
    pub(crate) fn controllers(&self) -> impl Iterator<Item = &Held> {
        self.held.iter().filter(|held| held.role == Role::Controller)
    }

    /// The objects that say something about tenants, by position among all.
    pub(crate) fn telling(&self) -> &[usize] {
        &self.layout.telling
    }

    /// The namespaces that charts bring objects to.
    pub(crate) fn charts(&self) -> &BTreeSet<Name> {
        &self.layout.charts
    }

    /// The held object of an identity, whose print the caller knows. Of two claims of one build the first one holds.
    pub(crate) fn get(&self, id: ObjectId<'_>, Print(print): Print) -> Option<&Held> {
        let known = &self.layout.held_by_print;
        let first = known.partition_point(|(other, _)| *other < print);
        let alike = known.iter().skip(first).take_while(|(other, _)| *other == print);
        alike.map(|(_, at)| &self.held[*at]).find(|held| held.key.id() == id)
    }

    /// Tells whether an object of the same identity is among all objects, which `objects` are.
    pub(crate) fn has(&self, object: &Object, objects: &Objects) -> bool {
        self.has_identity(identity(object), objects)
    }

    /// Tells whether an object is among all objects, which `objects` are, when it is put into a namespace.
    pub(crate) fn has_in(&self, namespace: &str, object: &Object, objects: &Objects) -> bool {
        self.has_identity(ObjectId { namespace, ..ObjectId::of(object) }.settled(), objects)
    }

    fn has_identity(&self, wanted: ObjectId<'_>, objects: &Objects) -> bool {
        let found = self.layout.prints.binary_search(&hash(wanted)).is_ok();
        found && objects.iter().any(|own| identity(own) == wanted)
    }
}

impl Held {
    fn of(object: &Object, role: Role) -> Self {
        let asks = match role {
            Role::Applier(kind) => Some(Arc::new(Asks::of(kind, object))),
            Role::None | Role::Named | Role::Maker | Role::Controller => None,
        };
        Self { key: ObjectKey::of(object), object: object.clone(), asks, role }
    }
}

impl Role {
    fn of(object: &Object) -> Self {
        if let Some(kind) = applies_as(object) {
            Self::Applier(kind)
        } else if !is_looked_up(object) {
            Self::None
        } else if is_controller(object) {
            Self::Controller
        } else if is_input_provider(object) || object.kind() == "ArtifactGenerator" || makes_others(object) {
            Self::Maker
        } else {
            Self::Named
        }
    }
}

impl Print {
    /// The hash of an identity with a settled namespace.
    pub(crate) fn of(id: ObjectId<'_>) -> Self {
        Self(hash(id))
    }
}

/// What an object applies as, if it does.
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

fn print(object: &Object) -> u64 {
    hash(identity(object))
}

fn hash(identity: ObjectId<'_>) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    identity.hash(&mut hasher);
    hasher.finish()
}

/// Tells whether something of a cluster may look an object up.
fn is_looked_up(object: &Object) -> bool {
    match object.group() {
        "" => matches!(object.kind(), "ConfigMap" | "Secret" | "Namespace"),
        "apps" => is_controller(object),
        groups::FLUX_OPERATOR => true,
        groups::SOURCE_EXTENSIONS => object.kind() == "ArtifactGenerator",
        _ => is_kustomization(object) || is_source(object) || makes_others(object),
    }
}
