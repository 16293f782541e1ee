//! What an applier brings into a cluster, and what of it others look up.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use super::asks::Asks;
use super::received::{Id, id, is_looked_up};
use super::shared_place::is_same;
use super::{ApplierKind, State, is_kustomization, is_resource_set, reads};
use crate::finding::{Finding, Severity};
use crate::kube::Object;
use crate::yaml::{Name, Node};

/// What an applier brings into a cluster. Appliers of equal input share it.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// The objects in the order in which they are applied. Of a build that fails, those that were built nevertheless:
    /// Flux applies none of them, but what else is wrong with them can be said.
    pub(super) objects: Vec<Object>,
    /// What is wrong.
    pub(super) findings: Vec<Finding>,
    /// How it went.
    pub(super) state: State,
    /// What its kustomize build says of itself.
    pub(super) facts: Arc<Facts>,
    /// The objects on whose behalf it was built. Others with the same content share it; the places are those of these.
    pub(super) built_for: Vec<Object>,
    /// The objects that others look up, or that apply further ones.
    pub(super) held: Vec<Arc<Held>>,
    /// The Deployment of kustomize-controller that a FluxInstance makes, as far as it is known.
    pub(super) controller: Option<Object>,
    /// Hashes of the identities of all objects.
    pub(super) prints: Vec<u64>,
}

/// What a kustomize build says of itself.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The names of the variables in each object.
    pub(super) reads: Vec<Arc<[Name]>>,
    /// The names of the variables in any of them, sorted.
    pub(super) names: Vec<Name>,
    /// What was asked for and not done, counted.
    pub(super) not_done: BTreeMap<String, usize>,
}

/// An object that others look up, or that applies further ones.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) id: Id,
    pub(super) object: Object,
    /// What it asks for, if it applies anything.
    pub(super) asks: Option<Arc<Asks>>,
}

impl Output {
    /// Objects and what is wrong with them.
    pub(super) fn new(objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        Self::with(objects, findings, Arc::default())
    }

    /// The same, with what a kustomize build says of itself.
    pub(super) fn with(objects: Vec<Object>, findings: Vec<Finding>, facts: Arc<Facts>) -> Self {
        let failed = findings.iter().any(|found| found.severity == Severity::Error);
        let state = if failed { State::Failed } else { State::Built };
        let held = objects.iter().filter_map(Held::of).map(Arc::new).collect();
        let prints = objects.iter().map(print).collect();
        Self { objects, findings, state, facts, built_for: Vec::new(), held, controller: None, prints }
    }

    /// What this becomes with other objects in the place of its own, which are often the same.
    pub(super) fn changed(&self, objects: Vec<Object>, findings: Vec<Finding>) -> Self {
        let mut changed = Self { held: Vec::new(), prints: Vec::new(), ..self.clone() };
        let mut held = self.held.iter().peekable();
        for ((own, object), own_print) in self.objects.iter().zip(&objects).zip(&self.prints) {
            let own_held = held.next_if(|held| is_same(&held.object, own));
            let same = is_same(own, object);
            let known = own_held.filter(|_| same).cloned();
            changed.held.extend(if same { known } else { Held::of(object).map(Arc::new) });
            changed.prints.push(if same { *own_print } else { print(object) });
        }
        let failed = findings.iter().any(|found| found.severity == Severity::Error);
        changed.state = if failed { State::Failed } else { State::Built };
        Self { objects, findings, ..changed }
    }

    /// Nothing, for a reason that is no fault.
    pub(super) fn not_built(reason: impl Into<Arc<str>>) -> Self {
        Self { state: State::NotBuilt(reason.into()), ..Self::new(Vec::new(), Vec::new()) }
    }

    /// Tells whether an object of the same identity is among the objects.
    pub(super) fn has(&self, object: &Object) -> bool {
        self.prints.contains(&print(object)) && self.objects.iter().any(|own| id(own) == id(object))
    }
}

impl Facts {
    /// What can be said of the objects of a build.
    pub(super) fn of(objects: &[Object], not_done: BTreeMap<String, usize>) -> Self {
        let reads: Vec<Arc<[Name]>> = objects.iter().map(reads).collect();
        let names: BTreeSet<&Name> = reads.iter().flat_map(|names| names.iter()).collect();
        let names = names.into_iter().cloned().collect();
        Self { reads, names, not_done }
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
        "FluxInstance" if object.is(super::sync::OPERATOR, "FluxInstance") => Some(ApplierKind::FluxInstance),
        _ => None,
    }
}

/// A hash of an object's identity: what differs is certainly another object.
fn print(object: &Object) -> u64 {
    let metadata = object.node.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| metadata.get(key)).and_then(Node::text).unwrap_or_default();
    let mut hasher = rustc_hash::FxHasher::default();
    (object.group(), object.kind(), text("namespace"), text("name")).hash(&mut hasher);
    hasher.finish()
}
