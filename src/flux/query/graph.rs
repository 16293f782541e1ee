//! The graph of a cluster's Flux: who creates whom, who builds from what, who waits for whom.

use crate::base::finding::ObjectRef;
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::kube::groups;
use crate::kube::{Object, ObjectId, ObjectKey};
use crate::text::Index;
use crate::yaml::{Name, Node};

/// The graph of one cluster.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The cluster's name; empty in a repository without a root.
    pub cluster: Name,
    /// What there is: each after the one that creates it.
    pub nodes: Vec<GraphNode>,
    /// What holds between them.
    pub edges: Vec<Edge>,
}

/// Something of Flux.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// What it is to the others.
    pub role: Role,
    /// Its identity.
    pub reference: ObjectRef,
    /// The folder that it applies, the URL of a source, or the chart of a release.
    pub detail: Option<String>,
    /// The cluster that it applies to when that is another one.
    pub target: Option<Name>,
    /// How its build went, if it builds.
    pub state: Option<State>,
}

/// What a node is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// What somebody installed by hand, with which the cluster begins.
    Bootstrap,
    /// A folder of a repository without a root.
    Folder,
    /// A source: where manifests and charts come from.
    Source,
    /// What brings objects: a Kustomization, a ResourceSet, a FluxInstance.
    Applier,
    /// A HelmRelease.
    Release,
    /// What is named and not received; somebody else may make it.
    Missing,
}

/// What holds between two nodes, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The one that does it.
    pub from: usize,
    /// The one that it is done to.
    pub to: usize,
    /// What is done.
    pub kind: EdgeKind,
}

/// What holds between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// `from` creates `to`.
    Creates,
    /// `from` is built from `to`.
    BuildsFrom,
    /// `from` waits for `to`.
    DependsOn,
}

struct Draft {
    graph: Graph,
    known: Index<ObjectKey, usize>,
}

impl Graph {
    /// The graph of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        let graph = Self { cluster: cluster.name.clone(), nodes: Vec::new(), edges: Vec::new() };
        let mut draft = Draft { graph, known: Index::default() };
        let mut objects: Vec<(usize, &Object)> = Vec::new();
        let places = draft.appliers(cluster, &mut objects);
        draft.others(cluster, &places, &mut objects);
        for (at, object) in objects {
            draft.references(at, object);
        }
        draft.graph.edges.sort_unstable();
        draft.graph.edges.dedup();
        draft.graph
    }

    /// The nodes that a node has an edge of a kind to, in their order.
    pub fn targets(&self, from: usize, kind: EdgeKind) -> impl Iterator<Item = usize> {
        let first = self.edges.partition_point(|edge| edge.from < from);
        let edges = self.edges.iter().skip(first).take_while(move |edge| edge.from == from);
        edges.filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    /// The nodes that nobody creates, in their order.
    pub fn tops(&self) -> Vec<usize> {
        let mut created = vec![false; self.nodes.len()];
        for edge in self.edges.iter().filter(|edge| edge.kind == EdgeKind::Creates) {
            if let Some(flag) = created.get_mut(edge.to) {
                *flag = true;
            }
        }
        let tops = created.iter().enumerate().filter(|(_, created)| !**created);
        tops.map(|(at, _)| at).collect()
    }
}

impl Draft {
    /// Adds the appliers; answers where each of the cluster's stands.
    fn appliers<'a>(&mut self, cluster: &'a Cluster, objects: &mut Vec<(usize, &'a Object)>) -> Vec<usize> {
        let mut places = Vec::with_capacity(cluster.appliers.len());
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
            if let Some(parent) = applier.parent.filter(|parent| *parent < places.len()) {
                let from = places.get(parent).copied().unwrap_or_default();
                self.graph.edges.push(Edge { from, to: at, kind: EdgeKind::Creates });
            }
            objects.extend(applier.object.as_ref().map(|object| (at, object)));
            places.push(at);
        }
        for (applier, at) in cluster.appliers.iter().zip(&places) {
            if let Some(source) = &applier.source {
                let to = self.source(source);
                self.graph.edges.push(Edge { from: *at, to, kind: EdgeKind::BuildsFrom });
            }
        }
        places
    }

    /// Adds sources and releases; what is applied to other clusters is no part of this one's Flux.
    fn others<'a>(&mut self, cluster: &'a Cluster, places: &[usize], objects: &mut Vec<(usize, &'a Object)>) {
        for applied in cluster.objects().filter(|applied| applied.by.target.is_none()) {
            let object = applied.object;
            let Some((role, detail)) = role(object) else { continue };
            let reference = object.reference();
            let node = GraphNode { role, reference, detail, target: None, state: None };
            let key = ObjectKey::from(ObjectId::from(&node.reference));
            if role == Role::Applier && self.known.contains(&key) {
                // Who brings it is said already; that it is also among what it applies itself says nothing.
                continue;
            }
            let at = if let Some(at) = self.known.get(&key).copied() {
                // A source that was named before it came by.
                if let Some(known) = self.graph.nodes.get_mut(at).filter(|known| known.role == Role::Missing) {
                    *known = node;
                }
                at
            } else {
                self.graph.nodes.push(node);
                self.known.insert(key, self.graph.nodes.len() - 1);
                self.graph.nodes.len() - 1
            };
            if let Some(from) = places.get(applied.by.at).copied().filter(|from| *from != at) {
                self.graph.edges.push(Edge { from, to: at, kind: EdgeKind::Creates });
            }
            objects.push((at, object));
        }
    }

    /// Adds what an object says of others.
    fn references(&mut self, at: usize, object: &Object) {
        let namespace = object.namespace().unwrap_or_default();
        let group = object.group().to_owned();
        let kind = object.kind().to_owned();
        for item in object.node.at_keys(&["spec", "dependsOn"]).map_or(&[][..], Node::items) {
            let text = |key: &str| item.get(key).and_then(Node::text).filter(|text| !text.is_empty());
            let Some(name) = text("name") else { continue };
            let namespace = text("namespace").unwrap_or(namespace);
            let named = text("kind").unwrap_or(&kind).to_owned();
            let version = text("apiVersion").map_or_else(|| object.api_version().to_owned(), str::to_owned);
            let group = version.split_once('/').map_or(group.clone(), |(group, _)| group.to_owned());
            let id = ObjectId { group: &group, kind: &named, namespace, name };
            let to = self.named(id, &version);
            self.graph.edges.push(Edge { from: at, to, kind: EdgeKind::DependsOn });
        }
        let paths: &[&[&str]] =
            &[&["spec", "sourceRef"], &["spec", "chartRef"], &["spec", "chart", "spec", "sourceRef"]];
        for reference in paths.iter().filter_map(|path| object.node.at_keys(path)) {
            let text = |key: &str| reference.get(key).and_then(Node::text).filter(|text| !text.is_empty());
            let (Some(kind), Some(name)) = (text("kind"), text("name")) else { continue };
            let version = text("apiVersion").unwrap_or("source.toolkit.fluxcd.io/v1");
            let source = ObjectRef {
                api_version: version.into(),
                kind: kind.into(),
                namespace: Some(text("namespace").unwrap_or(namespace)).filter(|it| !it.is_empty()).map(Into::into),
                name: name.into(),
            };
            let to = self.source(&source);
            self.graph.edges.push(Edge { from: at, to, kind: EdgeKind::BuildsFrom });
        }
    }

    fn source(&mut self, reference: &ObjectRef) -> usize {
        self.named(reference.into(), &reference.api_version)
    }

    /// The node of a name; one that nothing was known of is missing, until it comes by.
    fn named(&mut self, id: ObjectId<'_>, version: &str) -> usize {
        let key = ObjectKey::from(id);
        if let Some(at) = self.known.get(&key) {
            return *at;
        }
        let reference = ObjectRef {
            api_version: version.into(),
            kind: id.kind.into(),
            namespace: (!id.namespace.is_empty()).then(|| id.namespace.into()),
            name: id.name.into(),
        };
        let node = GraphNode { role: Role::Missing, reference, detail: None, target: None, state: None };
        self.graph.nodes.push(node);
        self.known.insert(key, self.graph.nodes.len() - 1);
        self.graph.nodes.len() - 1
    }
}

/// What an object is to the graph, with what is worth saying of it.
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
