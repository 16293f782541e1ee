//! The index of a cluster's objects by identity, in which the cluster's appliers resolve references.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::unknown_namespaces::UnknownNamespaces;
use crate::flux::build::applier_spec::ApplierSpec;
use crate::flux::build::inventory::{Fingerprint, IndexedObject};
use crate::flux::build::output::Output;
use crate::flux::install::roots::root::Root;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::object::kustomization_path::clamp;
use crate::flux::producer::Producers;
use crate::flux::producer::produced::Produced;
use crate::flux::resourceset::is_input_provider;
use crate::flux::settings::Settings;
use crate::flux::source::reference::{Lookup, SourceRef};
use crate::flux::variables::load::ValuesLookup;
use crate::kube::{Object, ObjectId, ObjectKey, groups, settled_namespace};
use crate::text::Index;
use crate::yaml::{Name, Node, Style, Value};

/// The maximum number of layers that a lookup searches one by one.
const FEW_LAYERS: usize = 64;

/// The objects of a cluster by identity. Most objects are never looked up, so the index keeps whole outputs as layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusterIndex {
    /// The outputs in order, with their precedence.
    layers: Vec<(Arc<Output>, Rank)>,
    /// The first layer of each fingerprint with the highest precedence, computed at the first lookup in more than
    /// `FEW_LAYERS` layers.
    merged: OnceLock<Index<Fingerprint, (usize, Rank)>>,
    /// The appliers, and the objects of the three fields below.
    known: Index<Arc<ObjectKey>, (Option<Arc<ApplierSpec>>, Rank)>,
    /// The ArtifactGenerators of each namespace.
    generators: BTreeMap<Name, Vec<Object>>,
    /// The input providers of each namespace.
    providers: BTreeMap<Name, Vec<Object>>,
    producers: Producers,
    /// The namespaces that may contain objects without a known manifest.
    pub(crate) unknown: UnknownNamespaces,
    /// The source that contains the repository itself, and the directory of the repository that is the root of that
    /// source.
    own: Option<(SourceRef, String)>,
    /// Whether the objects of the bootstrap precede the same objects of the cluster's directory.
    keeps_bootstrap: bool,
    /// The Kustomization or FluxInstance of the root.
    sync: Option<ObjectKey>,
    /// The directory of a declared root.
    declared: Option<String>,
}

/// The precedence of outputs with the same object, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Flux applies no object of a failed build.
    Failed,
    ByHand,
    Applied,
    /// Flux Operator marks its objects so that kustomize-controller ignores them.
    Operator,
}

impl ClusterIndex {
    /// Creates the index of a cluster before any applier is built.
    pub(crate) fn new(root: &Root, settings: &Settings) -> Self {
        let own = root.own_source().map(|source| (source, root.prefix.clone().unwrap_or_default()));
        let sync = root.objects.last();
        let path = |sync: &Object| sync.text_at(&["spec", "path"]).map(clamp).unwrap_or_default();
        Self {
            declared: sync.filter(|_| root.is_declared).map(path),
            sync: sync.map(|sync| ObjectId::of(sync).into()),
            producers: Producers::declared(&root.name, &settings.config.external),
            own,
            keeps_bootstrap: root.keeps_source,
            ..Self::default()
        }
    }

    /// Adds an output. If objects have equal identity and precedence, lookups find the first one.
    pub(crate) fn take(&mut self, output: &Arc<Output>, kind: ApplierKind) {
        let rank = match kind {
            _ if output.state == State::Failed => Rank::Failed,
            ApplierKind::Bootstrap if self.keeps_bootstrap => Rank::Operator,
            ApplierKind::Bootstrap => Rank::ByHand,
            ApplierKind::FluxInstance => Rank::Operator,
            ApplierKind::Kustomization | ApplierKind::ResourceSet | ApplierKind::Folder => Rank::Applied,
        };
        let inventory = &output.inventory;
        for indexed in inventory.makers() {
            self.take_maker(indexed, kind, rank);
        }
        for indexed in inventory.appliers() {
            if self.moves_root(indexed) {
                continue;
            }
            if self.known.get(&*indexed.key).is_none_or(|(spec, known)| spec.is_none() || *known < rank) {
                self.known.insert(indexed.key.clone(), (indexed.spec.clone(), rank));
            }
        }
        if !inventory.is_empty() {
            if let Some(merged) = self.merged.get_mut() {
                merge_layer(merged, self.layers.len(), output, rank);
            }
            self.layers.push((output.clone(), rank));
        }
    }

    /// Returns whether an applier has the name of the root's Kustomization or FluxInstance, and another directory than the
    /// root.
    ///
    /// The name of the Kustomization of a declared root is not certain, but the configuration declares the directory of the
    /// cluster. The path of a FluxInstance may have an unknown variable. The search for roots has found the directory of the
    /// cluster then.
    fn moves_root(&self, indexed: &IndexedObject) -> bool {
        let Some(spec) = indexed.spec.as_ref().filter(|_| self.sync.as_ref() == Some(&*indexed.key)) else {
            return false;
        };
        let is_elsewhere = self.declared.as_ref().is_some_and(|folder| spec.folder != *folder);
        is_elsewhere || has_unknown_path(&spec.object)
    }

    fn take_maker(&mut self, indexed: &IndexedObject, kind: ApplierKind, rank: Rank) {
        if self.known.get(&*indexed.key).is_some_and(|(_, known)| *known >= rank) {
            return;
        }
        let object = &indexed.object;
        self.producers.take(object, kind);
        let listed = match object.kind() {
            "ArtifactGenerator" => Some(&mut self.generators),
            _ if is_input_provider(object) => Some(&mut self.providers),
            _ => None,
        };
        if let Some(listed) = listed {
            let all = listed.entry(indexed.key.namespace().clone()).or_default();
            all.retain(|other| other.name() != object.name());
            all.push(object.clone());
        }
        self.known.insert(indexed.key.clone(), (indexed.spec.clone(), rank));
    }

    /// Drops the appliers, which only the build looks up, and what later lookups can compute again. Few clusters have
    /// later lookups.
    pub(crate) fn finish(&mut self) {
        self.known = Index::default();
        self.merged = OnceLock::new();
        self.layers.shrink_to_fit();
    }

    /// The specification of an applier.
    pub(crate) fn spec(&self, key: &ObjectKey) -> Option<&Arc<ApplierSpec>> {
        self.known.get(key).and_then(|(spec, _)| spec.as_ref())
    }

    /// The indexed object with an identity.
    fn indexed(&self, id: ObjectId<'_>) -> Option<&IndexedObject> {
        let id = id.settled();
        let fingerprint = Fingerprint::new(id);
        if self.layers.len() > FEW_LAYERS {
            let (at, _) = self.merged.get_or_init(|| self.merge()).get(&fingerprint)?;
            let (output, _) = self.layers.get(*at)?;
            // Different identities may have the same fingerprint. The search then visits all layers.
            if let Some(found) = output.inventory.get(id, fingerprint) {
                return Some(found);
            }
        }
        let mut best: Option<(&IndexedObject, Rank)> = None;
        for (output, rank) in &self.layers {
            if best.is_none_or(|(_, known)| known < *rank)
                && let Some(indexed) = output.inventory.get(id, fingerprint)
            {
                best = Some((indexed, *rank));
            }
        }
        best.map(|(indexed, _)| indexed)
    }

    fn merge(&self) -> Index<Fingerprint, (usize, Rank)> {
        let mut merged = Index::default();
        for (at, (output, rank)) in self.layers.iter().enumerate() {
            merge_layer(&mut merged, at, output, *rank);
        }
        merged
    }

    /// The input providers of a namespace, for the ResourceSets in that namespace.
    pub(crate) fn providers(&self, namespace: &str) -> &[Object] {
        let namespace = settled_namespace(groups::FLUX_OPERATOR, "ResourceSetInputProvider", namespace);
        self.providers.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// A ConfigMap or Secret that an applier applies or that a controller creates.
    pub(crate) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        let known = |kind: &str, namespace: &str, name: &str| {
            self.indexed(ObjectId { group: "", kind, namespace, name }).map(|indexed| indexed.object.clone())
        };
        self.producers.find(kind, namespace, name, &known)
    }
}

impl ValuesLookup for ClusterIndex {
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Produced> {
        self.find(kind, namespace, name)
    }

    fn may_bring(&self, namespace: &str) -> bool {
        self.unknown.may_bring(namespace)
    }

    fn injects_variables(&self) -> bool {
        self.unknown.injects_variables()
    }
}

impl Lookup for ClusterIndex {
    fn source(&self, reference: &SourceRef) -> Option<Object> {
        let SourceRef { kind, namespace, name } = reference;
        self.indexed(ObjectId { group: groups::SOURCE, kind, namespace, name }).map(|indexed| indexed.object.clone())
    }

    fn may_bring(&self, namespace: &str) -> bool {
        self.unknown.may_bring(namespace)
    }

    fn own(&self, reference: &SourceRef) -> Option<String> {
        self.own.as_ref().filter(|(own, _)| own == reference).map(|(_, folder)| folder.clone())
    }

    fn generators(&self, namespace: &str) -> Vec<Object> {
        let namespace = settled_namespace(groups::SOURCE_EXTENSIONS, "ArtifactGenerator", namespace);
        self.generators.get(namespace).cloned().unwrap_or_default()
    }
}

/// Adds the objects of a layer to the merged index.
fn merge_layer(merged: &mut Index<Fingerprint, (usize, Rank)>, at: usize, output: &Output, rank: Rank) {
    for fingerprint in output.inventory.fingerprints() {
        if merged.get(&fingerprint).is_none_or(|(_, known)| *known < rank) {
            merged.insert(fingerprint, (at, rank));
        }
    }
}

/// Returns whether the synced path contains a variable, or the value of a variable that is unknown.
fn has_unknown_path(applier: &Object) -> bool {
    let paths = [&["spec", "path"][..], &["spec", "sync", "path"]];
    let is_unknown = |path: &Node| match &path.value {
        Value::Scalar(text, style) => *style == Style::Unknown || text.contains("${"),
        Value::Seq(_) | Value::Map(_) => false,
    };
    paths.into_iter().filter_map(|path| applier.node.at_keys(path)).any(is_unknown)
}
