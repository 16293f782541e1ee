//! What a cluster has, by name: what its appliers look things up in.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::output::Held;
use super::producer::{Produced, Producers, makes_others};
use super::root::Root;
use super::settings::Settings;
use super::source::{Lookup, SourceRef};
use super::sync::OPERATOR;
use super::version::is_controller;
use super::{ApplierKind, is_input_provider, is_kustomization, is_source};
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::{Name, Node};

/// What tells two objects apart, whatever their version: group, kind, namespace and name.
pub(super) type Id = (Name, Name, Name, Name);

/// The identity of an object.
pub(super) fn id(object: &Object) -> Id {
    let metadata = object.node.get("metadata");
    let shared = |node: Option<&Node>| node.and_then(Node::shared_text).unwrap_or_else(|| NONE.clone());
    let named = |key: &str| shared(metadata.and_then(|metadata| metadata.get(key)));
    let group = Some(object.group()).filter(|group| !group.is_empty()).map_or_else(|| NONE.clone(), Name::from);
    (group, shared(object.node.get("kind")), named("namespace"), named("name"))
}

/// The name of the core group, and of no namespace.
static NONE: LazyLock<Name> = LazyLock::new(|| Name::from(""));

/// The objects that others refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Received {
    by_id: Index<Id, (Arc<Held>, Rank)>,
    /// The ArtifactGenerators of each namespace.
    generators: BTreeMap<Name, Vec<Object>>,
    /// The providers of inputs of each namespace.
    providers: BTreeMap<Name, Vec<Object>>,
    producers: Producers,
    /// The Deployments of kustomize-controller.
    pub(super) controllers: Vec<Object>,
    /// The source that is the repository itself, and its folder that is the root of it.
    own: Option<(SourceRef, String)>,
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
    /// What a cluster has before anything is applied.
    pub(super) fn new(root: &Root, settings: &Settings) -> Self {
        let own = root.own_source().map(|source| (source, root.prefix.clone().unwrap_or_default()));
        Self { producers: Producers::declared(&root.name, &settings.config.external), own, ..Self::default() }
    }

    /// Takes an object that an applier brings; of two equal claims the first one holds.
    pub(super) fn take(&mut self, held: &Arc<Held>, kind: ApplierKind) {
        let object = &held.object;
        let rank = match kind {
            ApplierKind::Bootstrap => Rank::ByHand,
            ApplierKind::FluxInstance => Rank::Operator,
            ApplierKind::Kustomization | ApplierKind::ResourceSet | ApplierKind::Folder => Rank::Applied,
        };
        if self.by_id.get(&held.id).is_some_and(|(_, known)| *known >= rank) {
            return;
        }
        self.producers.take(object, kind);
        if is_controller(object) {
            self.controllers.push(object.clone());
        }
        let listed = match object.kind() {
            "ArtifactGenerator" => Some(&mut self.generators),
            _ if is_input_provider(object) => Some(&mut self.providers),
            _ => None,
        };
        if let Some(listed) = listed {
            let all = listed.entry(held.id.2.clone()).or_default();
            all.retain(|other| other.name() != object.name());
            all.push(object.clone());
        }
        self.by_id.insert(held.id.clone(), (held.clone(), rank));
    }

    /// The object of an identity.
    pub(super) fn held(&self, id: &Id) -> Option<&Held> {
        self.by_id.get(id).map(|(held, _)| &**held)
    }

    /// The providers of inputs that a ResourceSet of a namespace may ask.
    pub(super) fn providers(&self, namespace: &str) -> &[Object] {
        self.providers.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// A ConfigMap or Secret, brought by an applier or made by something.
    pub(super) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        let known = |kind: &str, namespace: &str, name: &str| {
            let id = (NONE.clone(), kind.into(), namespace.into(), name.into());
            self.held(&id).map(|held| held.object.clone())
        };
        self.producers.find(kind, namespace, name, &known)
    }
}

impl Lookup for Received {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        let group = Name::from("source.toolkit.fluxcd.io");
        let SourceRef { kind, namespace, name } = reference.clone();
        self.held(&(group, kind, namespace, name)).map(|held| held.object.clone())
    }

    fn own(&self, reference: &SourceRef) -> Option<String> {
        self.own.as_ref().filter(|(own, _)| own == reference).map(|(_, folder)| folder.clone())
    }

    fn generators(&self, namespace: &str) -> Vec<Object> {
        self.generators.get(namespace).cloned().unwrap_or_default()
    }
}

/// Tells whether something of a cluster may look an object up.
pub(super) fn is_looked_up(object: &Object) -> bool {
    match object.group() {
        "" => matches!(object.kind(), "ConfigMap" | "Secret" | "Namespace"),
        "apps" => is_controller(object),
        OPERATOR => true,
        "source.extensions.fluxcd.io" => object.kind() == "ArtifactGenerator",
        _ => is_kustomization(object) || is_source(object) || makes_others(object),
    }
}
