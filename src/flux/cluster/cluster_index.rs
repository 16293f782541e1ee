//! What a cluster has, by name: what its appliers look things up in.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::unknown_contents::Doubts;
use crate::flux::build::applier_spec::Asks;
use crate::flux::build::inventory::{Held, Print};
use crate::flux::build::output::Output;
use crate::flux::install::root::Root;
use crate::flux::model::applier_kind::ApplierKind;
use crate::flux::producer::produced::Produced;
use crate::flux::variables::load::ValuesLookup;
use crate::kube::groups;

use crate::flux::producer::Producers;
use crate::flux::resourceset::is_input_provider;
use crate::flux::settings::Settings;
use crate::flux::source::reference::{Lookup, SourceRef};
use crate::kube::{Object, ObjectId, ObjectKey, settled_namespace};
use crate::text::Index;
use crate::yaml::Name;

/// So many layers are gone through one by one.
const FEW_LAYERS: usize = 64;

/// The objects that others refer to. Most of them are never asked for, so that what was brought is kept as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    /// What was brought, in order, and with which say.
    layers: Vec<(Arc<Output>, Rank)>,
    /// Where objects stand in the layers, once that is asked of more layers than can be gone through each time.
    merged: OnceLock<Index<ObjectKey, (usize, Rank)>>,
    /// What applies others, and those that were listed below.
    known: Index<ObjectKey, (Option<Arc<Asks>>, Rank)>,
    /// The ArtifactGenerators of each namespace.
    generators: BTreeMap<Name, Vec<Object>>,
    /// The providers of inputs of each namespace.
    providers: BTreeMap<Name, Vec<Object>>,
    producers: Producers,
    /// What may have been brought although it is not known.
    pub(crate) doubts: Doubts,
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
    pub(crate) fn new(root: &Root, settings: &Settings) -> Self {
        let own = root.own_source().map(|source| (source, root.prefix.clone().unwrap_or_default()));
        Self { producers: Producers::declared(&root.name, &settings.config.external), own, ..Self::default() }
    }

    /// Takes what an applier brings; of two equal claims the first one holds.
    pub(crate) fn take(&mut self, output: &Arc<Output>, kind: ApplierKind) {
        let rank = match kind {
            ApplierKind::Bootstrap => Rank::ByHand,
            ApplierKind::FluxInstance => Rank::Operator,
            ApplierKind::Kustomization | ApplierKind::ResourceSet | ApplierKind::Folder => Rank::Applied,
        };
        let inventory = &output.inventory;
        for held in inventory.makers() {
            self.take_maker(held, kind, rank);
        }
        for held in inventory.appliers() {
            if self.known.get(&held.key).is_none_or(|(asks, known)| asks.is_none() || *known < rank) {
                self.known.insert(held.key.clone(), (held.asks.clone(), rank));
            }
        }
        if !inventory.held.is_empty() {
            if let Some(merged) = self.merged.get_mut() {
                merge_layer(merged, self.layers.len(), output, rank);
            }
            self.layers.push((output.clone(), rank));
        }
    }

    fn take_maker(&mut self, held: &Held, kind: ApplierKind, rank: Rank) {
        if self.known.get(&held.key).is_some_and(|(_, known)| *known >= rank) {
            return;
        }
        let object = &held.object;
        self.producers.take(object, kind);
        let listed = match object.kind() {
            "ArtifactGenerator" => Some(&mut self.generators),
            _ if is_input_provider(object) => Some(&mut self.providers),
            _ => None,
        };
        if let Some(listed) = listed {
            let all = listed.entry(held.key.namespace().clone()).or_default();
            all.retain(|other| other.name() != object.name());
            all.push(object.clone());
        }
        self.known.insert(held.key.clone(), (held.asks.clone(), rank));
    }

    /// What an object of an identity asks for, if it applies anything.
    pub(crate) fn asks(&self, key: &ObjectKey) -> Option<&Arc<Asks>> {
        self.known.get(key).and_then(|(asks, _)| asks.as_ref())
    }

    /// The object of an identity.
    fn held(&self, id: ObjectId<'_>) -> Option<&Held> {
        let id = id.settled();
        let print = Print::of(id);
        if self.layers.len() > FEW_LAYERS {
            let (at, _) = self.merged.get_or_init(|| self.merge()).get(&ObjectKey::from(id))?;
            return self.layers.get(*at).and_then(|(output, _)| output.inventory.get(id, print));
        }
        let mut best: Option<(&Held, Rank)> = None;
        for (output, rank) in &self.layers {
            if best.is_none_or(|(_, known)| known < *rank)
                && let Some(held) = output.inventory.get(id, print)
            {
                best = Some((held, *rank));
            }
        }
        best.map(|(held, _)| held)
    }

    fn merge(&self) -> Index<ObjectKey, (usize, Rank)> {
        let mut merged = Index::default();
        for (at, (output, rank)) in self.layers.iter().enumerate() {
            merge_layer(&mut merged, at, output, *rank);
        }
        merged
    }

    /// The providers of inputs that a ResourceSet of a namespace may ask.
    pub(crate) fn providers(&self, namespace: &str) -> &[Object] {
        let namespace = settled_namespace(groups::FLUX_OPERATOR, "ResourceSetInputProvider", namespace);
        self.providers.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// A ConfigMap or Secret, brought by an applier or made by something.
    pub(crate) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        let known = |kind: &str, namespace: &str, name: &str| {
            self.held(ObjectId { group: "", kind, namespace, name }).map(|held| held.object.clone())
        };
        self.producers.find(kind, namespace, name, &known)
    }
}

impl ValuesLookup for Received {
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        self.find(kind, namespace, name)
    }

    fn may_bring(&self, namespace: &str) -> bool {
        self.doubts.may_bring(namespace)
    }
}

impl Lookup for Received {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        let SourceRef { kind, namespace, name } = reference;
        self.held(ObjectId { group: groups::SOURCE, kind, namespace, name }).map(|held| held.object.clone())
    }

    fn may_bring(&self, namespace: &str) -> bool {
        self.doubts.may_bring(namespace)
    }

    fn own(&self, reference: &SourceRef) -> Option<String> {
        self.own.as_ref().filter(|(own, _)| own == reference).map(|(_, folder)| folder.clone())
    }

    fn generators(&self, namespace: &str) -> Vec<Object> {
        let namespace = settled_namespace(groups::SOURCE_EXTENSIONS, "ArtifactGenerator", namespace);
        self.generators.get(namespace).cloned().unwrap_or_default()
    }
}

/// Adds the objects of a layer to where objects stand.
fn merge_layer(merged: &mut Index<ObjectKey, (usize, Rank)>, at: usize, output: &Output, rank: Rank) {
    for held in &output.inventory.held {
        if merged.get(&held.key).is_none_or(|(_, known)| *known < rank) {
            merged.insert(held.key.clone(), (at, rank));
        }
    }
}
