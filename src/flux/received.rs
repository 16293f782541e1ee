//! What a cluster has, by name: what its appliers look things up in.

use std::collections::BTreeMap;

use super::producer::{Produced, Producers};
use super::source::{Lookup, SourceRef};
use super::sync::OPERATOR;
use super::{ApplierKind, is_input_provider, is_kustomization, is_source};
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Name;

/// What tells two objects apart, whatever their version: group, kind, namespace and name.
pub(super) type Id = (Name, Name, Name, Name);

/// The identity of an object.
pub(super) fn id(object: &Object) -> Id {
    let shared = |keys: &[&str]| object.node.at_keys(keys).and_then(crate::yaml::Node::shared_text);
    let or_none = |name: Option<Name>| name.unwrap_or_else(|| Name::from(""));
    (
        Name::from(object.group()),
        or_none(shared(&["kind"])),
        or_none(shared(&["metadata", "namespace"])),
        or_none(shared(&["metadata", "name"])),
    )
}

/// The identity of an object that is not there yet.
pub(super) fn id_of(group: &str, kind: &str, namespace: &str, name: &str) -> Id {
    (group.into(), kind.into(), namespace.into(), name.into())
}

/// The objects that others refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Received {
    by_id: Index<Id, Held>,
    /// The ArtifactGenerators of each namespace.
    generators: BTreeMap<Name, Vec<Object>>,
    /// The providers of inputs of each namespace.
    providers: BTreeMap<Name, Vec<Object>>,
    /// What makes objects that nobody applies.
    producers: Producers,
}

#[derive(Debug, Clone)]
struct Held {
    object: Object,
    rank: Rank,
}

/// Who decides what an object is like, the last one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    ByHand,
    Applied,
    /// Flux Operator marks its objects so that kustomize-controller leaves them alone.
    Operator,
}

impl Received {
    /// A cluster that has nothing but what makes objects in it.
    pub(super) fn with(producers: Producers) -> Self {
        Self { producers, ..Self::default() }
    }

    /// Takes an object that an applier brings; of two equal claims the first one holds.
    pub(super) fn take(&mut self, object: &Object, kind: ApplierKind) {
        self.producers.take(object, kind);
        if !is_looked_up(object) {
            return;
        }
        let rank = match kind {
            ApplierKind::Bootstrap => Rank::ByHand,
            ApplierKind::FluxInstance => Rank::Operator,
            ApplierKind::Kustomization | ApplierKind::ResourceSet | ApplierKind::Folder => Rank::Applied,
        };
        let id = id(object);
        if self.by_id.get(&id).is_some_and(|held| held.rank >= rank) {
            return;
        }
        let listed = match object.kind() {
            "ArtifactGenerator" => Some(&mut self.generators),
            _ if is_input_provider(object) => Some(&mut self.providers),
            _ => None,
        };
        if let Some(listed) = listed {
            let all = listed.entry(id.2.clone()).or_default();
            all.retain(|other| other.name() != object.name());
            all.push(object.clone());
        }
        self.by_id.insert(id, Held { object: object.clone(), rank });
    }

    /// The providers of inputs that a ResourceSet of a namespace may ask.
    pub(super) fn providers(&self, namespace: &str) -> &[Object] {
        self.providers.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// A ConfigMap or Secret as the cluster has it, whoever makes it.
    pub(super) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        let known = |kind: &str, namespace: &str, name: &str| self.get(&id_of("", kind, namespace, name)).cloned();
        self.producers.find(kind, namespace, name, &known)
    }

    /// The object of an identity.
    pub(super) fn get(&self, id: &Id) -> Option<&Object> {
        self.by_id.get(id).map(|held| &held.object)
    }
}

impl Lookup for Received {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        let group = Name::from("source.toolkit.fluxcd.io");
        let SourceRef { kind, namespace, name } = reference.clone();
        self.get(&(group, kind, namespace, name)).cloned()
    }

    fn generators(&self, namespace: &str) -> Vec<Object> {
        self.generators.get(namespace).cloned().unwrap_or_default()
    }
}

/// Tells whether some applier may look an object up by its name.
fn is_looked_up(object: &Object) -> bool {
    (object.group().is_empty() && matches!(object.kind(), "ConfigMap" | "Secret" | "Namespace"))
        || is_kustomization(object)
        || is_source(object)
        || object.group() == OPERATOR
        || object.is("source.extensions.fluxcd.io", "ArtifactGenerator")
}
