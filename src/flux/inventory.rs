//! What others ask about the objects of a build, found once for all clusters that share it.

use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use super::asks::Asks;
use super::producer::makes_others;
use super::received::{Id, id, is_looked_up};
use super::sync::OPERATOR;
use super::tenancy::tells;
use super::version::is_controller;
use super::{ApplierKind, is_input_provider, is_kustomization, is_resource_set};
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Node;

/// What others ask about the objects of a build.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// The objects that others look up, or that apply further ones.
    pub(super) held: Vec<Held>,
    by_id: Index<Id, usize>,
    /// The held ones that apply others, by position.
    pub(super) appliers: Vec<usize>,
    /// The held ones that more is known by than their names: they make others, or are looked up in lists.
    pub(super) makers: Vec<usize>,
    /// The Deployments of kustomize-controller, among the held ones.
    pub(super) controllers: Vec<usize>,
    /// The objects that say something about tenants, by position among all.
    pub(super) telling: Vec<usize>,
    /// Hashes of the identities of all objects, sorted.
    prints: Vec<u64>,
}

/// An object that others look up, or that applies further ones.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) id: Id,
    pub(super) object: Object,
    /// What it asks for, if it applies anything.
    pub(super) asks: Option<Arc<Asks>>,
}

impl Inventory {
    /// Looks through the objects of a build.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut inventory = Self::default();
        for (at, object) in objects.iter().enumerate() {
            inventory.prints.push(print(object));
            if tells(object) {
                inventory.telling.push(at);
            }
            if let Some(held) = Held::of(object) {
                inventory.hold(held);
            }
        }
        inventory.prints.sort_unstable();
        inventory
    }

    fn hold(&mut self, held: Held) {
        let (at, object) = (self.held.len(), &held.object);
        if held.asks.is_some() {
            self.appliers.push(at);
        }
        if is_input_provider(object) || object.kind() == "ArtifactGenerator" || makes_others(object) {
            self.makers.push(at);
        }
        if is_controller(object) {
            self.controllers.push(at);
        }
        // Of two claims of one build the first one holds.
        if !self.by_id.contains(&held.id) {
            self.by_id.insert(held.id.clone(), at);
        }
        self.held.push(held);
    }

    /// The held object of an identity.
    pub(super) fn get(&self, id: &Id) -> Option<&Held> {
        self.by_id.get(id).and_then(|at| self.held.get(*at))
    }

    /// Tells whether an object of the same identity is among all objects, which `objects` are.
    pub(super) fn has(&self, object: &Object, objects: &[Object]) -> bool {
        let found = self.prints.binary_search(&print(object)).is_ok();
        found && objects.iter().any(|own| id(own) == id(object))
    }

    /// Tells whether an inventory stays what it is when one object takes the place of another.
    pub(super) fn sees_no_difference(old: &Object, new: &Object) -> bool {
        let is_listed = |object: &Object| tells(object) || applies_as(object).is_some() || is_looked_up(object);
        is_same(old, new) && !is_listed(old) && !is_listed(new)
    }
}

impl Held {
    fn of(object: &Object) -> Option<Self> {
        let kind = applies_as(object);
        (kind.is_some() || is_looked_up(object)).then(|| Self {
            id: id(object),
            object: object.clone(),
            asks: kind.map(|kind| Arc::new(Asks::of(kind, object))),
        })
    }
}

/// What an object applies as, if it does.
fn applies_as(object: &Object) -> Option<ApplierKind> {
    match object.kind() {
        "Kustomization" if is_kustomization(object) => Some(ApplierKind::Kustomization),
        "ResourceSet" if is_resource_set(object) => Some(ApplierKind::ResourceSet),
        "FluxInstance" if object.is(OPERATOR, "FluxInstance") => Some(ApplierKind::FluxInstance),
        _ => None,
    }
}

fn identity(object: &Object) -> (&str, &str, &str, &str) {
    let metadata = object.node.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| metadata.get(key)).and_then(Node::text).unwrap_or_default();
    (object.group(), object.kind(), text("namespace"), text("name"))
}

/// Tells whether two objects have one identity.
fn is_same(one: &Object, other: &Object) -> bool {
    identity(one) == identity(other)
}

/// A hash of an object's identity: what differs is certainly another object.
fn print(object: &Object) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    identity(object).hash(&mut hasher);
    hasher.finish()
}
