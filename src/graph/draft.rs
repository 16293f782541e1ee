//! The graph of a cluster, built from its appliers, its objects and their references.

use super::model::{Edge, EdgeKind, Graph, GraphNode, Role};
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, Applier, ApplierKind, Cluster, installs};
use crate::kube::{Object, ObjectId, ObjectKey, groups};
use crate::lint::{Relation, generates, references};
use crate::text::Index;

/// The graph of the sources, appliers and releases of a cluster.
pub fn of_cluster(cluster: &Cluster) -> Graph {
    Draft::of(cluster, Contents::Flux).finish()
}

/// The graph of all references on a cluster, and the node of an object that the cluster receives, from one or more
/// appliers.
pub(super) fn of_received(cluster: &Cluster, first: Applied<'_>, others: &[Applied<'_>]) -> (Graph, usize) {
    let mut draft = Draft::of(cluster, Contents::References);
    let center = draft.received(first);
    for applied in others {
        draft.created_by(applied.by, center);
    }
    (draft.finish(), center)
}

/// The graph of all references on a cluster, and the first node that `matches` selects.
pub(super) fn of_referenced(cluster: &Cluster, matches: impl Fn(&ObjectRef) -> bool) -> Option<(Graph, usize)> {
    let graph = Draft::of(cluster, Contents::References).finish();
    let center = graph.nodes.iter().position(|node| node.role != Role::Bootstrap && matches(&node.reference))?;
    Some((graph, center))
}

/// The objects and relations of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    /// Sources, appliers and releases, with sources and dependencies.
    Flux,
    /// All objects that reference other objects or are referenced.
    References,
}

struct Draft<'a> {
    graph: Graph,
    contents: Contents,
    known: Index<ObjectKey, usize>,
    /// The position of the node of each applier.
    places: Vec<usize>,
    /// The position of the edge from the creator of each applier to the applier.
    creations: Vec<Option<usize>>,
    /// The received objects that may become nodes when another object references them.
    others: Index<ObjectKey, Applied<'a>>,
    generators: Vec<(usize, &'a Object)>,
}

impl<'a> Draft<'a> {
    fn of(cluster: &'a Cluster, contents: Contents) -> Self {
        let graph = Graph { cluster: cluster.name.clone(), nodes: Vec::new(), edges: Vec::new(), center: None };
        let (known, others) = (Index::default(), Index::default());
        let (places, creations, generators) = (Vec::new(), Vec::new(), Vec::new());
        let mut draft = Self { graph, contents, known, places, creations, others, generators };
        let mut objects: Vec<(usize, &Object)> = Vec::new();
        draft.appliers(cluster, &mut objects);
        draft.objects(cluster, &mut objects);
        for (at, object) in objects {
            draft.references(at, object);
        }
        draft
    }

    fn finish(mut self) -> Graph {
        self.graph.edges.sort_unstable();
        self.graph.edges.dedup();
        self.graph
    }

    /// Adds the appliers.
    fn appliers(&mut self, cluster: &'a Cluster, objects: &mut Vec<(usize, &'a Object)>) {
        for applier in &cluster.appliers {
            let role = match applier.kind {
                ApplierKind::Bootstrap => Role::Bootstrap,
                ApplierKind::Folder => Role::Folder,
                ApplierKind::Kustomization | ApplierKind::FluxInstance | ApplierKind::ResourceSet => Role::Applier,
            };
            let builds = matches!(applier.kind, ApplierKind::Kustomization | ApplierKind::Bootstrap);
            let detail = match applier.folder.as_str() {
                _ if !builds => None,
                "" => applier.source.is_some().then(|| ".".to_owned()),
                folder => Some(folder.to_owned()),
            };
            let node = GraphNode {
                role,
                reference: applier.reference.clone(),
                detail,
                target: applier.target.clone(),
                state: Some(applier.state.clone()),
            };
            let at = self.graph.nodes.len();
            self.graph.nodes.push(node);
            if role == Role::Applier {
                self.known.insert(ObjectId::from(&applier.reference).into(), at);
            }
            let parent = applier.parent.and_then(|parent| self.places.get(parent).copied());
            self.creations.push(parent.map(|_| self.graph.edges.len()));
            self.graph.edges.extend(parent.map(|from| Edge { from, to: at, kind: EdgeKind::Creates }));
            objects.extend(applier.object.as_ref().map(|object| (at, object)));
            self.places.push(at);
        }
    }

    /// Adds the objects with a role. The graph omits objects that are applied to another cluster.
    fn objects(&mut self, cluster: &'a Cluster, objects: &mut Vec<(usize, &'a Object)>) {
        for applied in cluster.objects().filter(|applied| applied.by.target.is_none()) {
            let object = applied.object;
            let key = ObjectKey::of(object);
            let is_user = || self.contents == Contents::References && !references(object).is_empty();
            let (role, detail) = match role(object) {
                Some(found) => found,
                None if is_user() => (Role::Object, None),
                None => {
                    self.others.entry_or(key, || applied);
                    continue;
                }
            };
            let known = self.known.get(&key).copied();
            if let Some(at) = known.filter(|_| role == Role::Applier) {
                self.adopt(applied.by, at);
                continue;
            }
            let at = known.unwrap_or_else(|| {
                self.add(GraphNode { role, reference: object.reference(), detail, target: None, state: None })
            });
            self.created_by(applied.by, at);
            if object.is(groups::SOURCE_EXTENSIONS, "ArtifactGenerator") {
                self.generators.push((at, object));
            }
            objects.push((at, object));
        }
    }

    fn add(&mut self, node: GraphNode) -> usize {
        let at = self.graph.nodes.len();
        self.known.insert(ObjectId::from(&node.reference).into(), at);
        self.graph.nodes.push(node);
        at
    }

    /// Adds the edge from the applier of an object to the object.
    fn created_by(&mut self, applier: &Applier, at: usize) {
        if let Some(from) = self.places.get(applier.at).copied().filter(|from| *from != at) {
            self.graph.edges.push(Edge { from, to: at, kind: EdgeKind::Creates });
        }
    }

    /// Moves an applier from the bootstrap to the applier that applies it afterwards. Any other applier remains below its
    /// first creator.
    fn adopt(&mut self, applier: &Applier, at: usize) {
        let Some(from) = self.places.get(applier.at).copied() else { return };
        let is_bootstrap = |node: usize| self.graph.nodes.get(node).is_some_and(|node| node.role == Role::Bootstrap);
        let is_by_hand = self.creator(at).is_some_and(is_bootstrap) && !is_bootstrap(from);
        // An applier may apply itself, or an applier that it creates may apply it.
        if !is_by_hand || std::iter::successors(Some(from), |node| self.creator(*node)).any(|node| node == at) {
            return;
        }
        if let Some(edge) = self.creations.get(at).copied().flatten().and_then(|edge| self.graph.edges.get_mut(edge)) {
            edge.from = from;
        }
    }

    /// The node that creates an applier.
    fn creator(&self, at: usize) -> Option<usize> {
        let edge = self.creations.get(at).copied().flatten()?;
        self.graph.edges.get(edge).map(|edge| edge.from)
    }

    /// Adds the edges of an object's references.
    fn references(&mut self, at: usize, object: &Object) {
        for (relation, reference) in references(object) {
            let kind = match relation {
                Relation::BuildsFrom => EdgeKind::BuildsFrom,
                Relation::DependsOn => EdgeKind::DependsOn,
                Relation::Reads if self.contents == Contents::References => EdgeKind::Reads,
                Relation::Reads => continue,
            };
            let to = self.referenced(reference.target);
            self.graph.edges.extend(to.map(|to| Edge { from: at, to, kind }));
        }
    }

    /// The node of a referenced object; `None` if the object is part of the installation of Flux, and the graph shows
    /// only appliers, sources and releases.
    fn referenced(&mut self, id: ObjectId<'_>) -> Option<usize> {
        let key = ObjectKey::from(id);
        if let Some(at) = self.known.get(&key) {
            return Some(*at);
        }
        if let Some(applied) = self.others.get(&key).copied() {
            return Some(self.received(applied));
        }
        let id = id.settled();
        let is_generated = id.group == groups::SOURCE && id.kind == "ExternalArtifact";
        let makes = |(_, generator): &&(usize, &Object)| is_generated && generates(generator, id.namespace, id.name);
        let generator = self.generators.iter().find(makes).map(|(at, _)| *at);
        let role = match generator {
            Some(_) => Role::Source,
            None if installs(groups::FLUX_NAMESPACE, id.group, id.kind, id.namespace, id.name) => {
                if self.contents == Contents::Flux {
                    return None;
                }
                Role::Object
            }
            None => Role::Missing,
        };
        let reference = ObjectRef {
            api_version: version_of(id.group).into(),
            kind: id.kind.into(),
            namespace: (!id.namespace.is_empty()).then(|| id.namespace.into()),
            name: id.name.into(),
        };
        let at = self.add(GraphNode { role, reference, detail: None, target: None, state: None });
        if let Some(from) = generator {
            self.graph.edges.push(Edge { from, to: at, kind: EdgeKind::Creates });
        }
        Some(at)
    }

    /// The node of a received object, which may be applied to another cluster.
    fn received(&mut self, applied: Applied<'_>) -> usize {
        let reference = applied.object.reference();
        let known = self.known.get(&ObjectId::from(&reference).into()).filter(|_| applied.by.target.is_none());
        if let Some(at) = known {
            return *at;
        }
        let at = self.add(GraphNode { role: Role::Object, reference, detail: None, target: None, state: None });
        self.created_by(applied.by, at);
        at
    }
}

/// The `apiVersion` of an object that is only referenced, according to the group of the object.
fn version_of(group: &str) -> String {
    match group {
        "" => "v1".to_owned(),
        groups::HELM => format!("{group}/v2"),
        groups::NOTIFICATION => format!("{group}/v1beta3"),
        groups::SOURCE_EXTENSIONS => format!("{group}/v1beta1"),
        _ => format!("{group}/v1"),
    }
}

/// The role of an object in the graph, with a detail to show.
fn role(object: &Object) -> Option<(Role, Option<String>)> {
    let text = |keys: &[&str]| object.text_at(keys).map(str::to_owned);
    match (object.group(), object.kind()) {
        (groups::SOURCE, kind) => {
            let detail = match kind {
                "Bucket" => text(&["spec", "bucketName"]),
                "HelmChart" => text(&["spec", "chart"]),
                _ => text(&["spec", "url"]),
            };
            Some((Role::Source, detail))
        }
        (groups::SOURCE_EXTENSIONS, "ArtifactGenerator") => Some((Role::Source, None)),
        (groups::KUSTOMIZE, "Kustomization") => Some((Role::Applier, text(&["spec", "path"]))),
        (groups::FLUX_OPERATOR, "ResourceSet" | "FluxInstance") => Some((Role::Applier, None)),
        (groups::HELM, "HelmRelease") => {
            let chart = text(&["spec", "chart", "spec", "chart"]);
            let version = text(&["spec", "chart", "spec", "version"]).map(|version| format!(" {version}"));
            Some((Role::Release, chart.map(|chart| format!("{chart}{}", version.unwrap_or_default()))))
        }
        _ => None,
    }
}
