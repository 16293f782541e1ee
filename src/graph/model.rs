//! Nodes and edges.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::finding::ObjectRef;
use crate::flux::State;
use crate::yaml::Name;

/// The graph of one cluster.
#[derive(Debug, Clone)]
pub struct Graph {
    /// The name of the cluster; empty in a repository without a root.
    pub cluster: Name,
    /// The nodes. The appliers are the first ones.
    pub nodes: Vec<GraphNode>,
    /// The edges, sorted.
    pub edges: Vec<Edge>,
    /// The node whose surroundings the graph shows; `None` if it shows the whole cluster.
    pub center: Option<usize>,
}

/// An object in the graph: an object of Flux, or an object with references to or from other objects.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// The role of the node.
    pub role: Role,
    /// The identity of the object.
    pub reference: ObjectRef,
    /// The directory of an applier, the URL of a source, or the chart of a release.
    pub detail: Option<String>,
    /// The cluster to which the applier applies objects, if it is another cluster.
    pub target: Option<Name>,
    /// The state of the applier's build; `None` for other objects.
    pub state: Option<State>,
}

/// The role of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The bootstrap installation of the cluster.
    Bootstrap,
    /// A directory of a repository without a root.
    Folder,
    /// A source.
    Source,
    /// A Kustomization, a ResourceSet or a FluxInstance.
    Applier,
    /// A HelmRelease.
    Release,
    /// Any other object.
    Object,
    /// An object that is referenced but not received.
    Missing,
}

/// A directed edge between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Edge {
    /// The number of the node at the start.
    pub from: usize,
    /// The number of the node at the end.
    pub to: usize,
    /// The kind of the edge.
    pub kind: EdgeKind,
}

/// The kind of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// `from` creates `to`.
    Creates,
    /// `from` builds from source `to`.
    BuildsFrom,
    /// `from` depends on `to`.
    DependsOn,
    /// `from` reads `to`, or waits for its health.
    Reads,
}

impl Graph {
    /// The targets of the edges of one kind that leave a node, in order.
    pub fn targets(&self, from: usize, kind: EdgeKind) -> impl Iterator<Item = usize> {
        let first = self.edges.partition_point(|edge| edge.from < from);
        let edges = self.edges.iter().skip(first).take_while(move |edge| edge.from == from);
        edges.filter(move |edge| edge.kind == kind).map(|edge| edge.to)
    }

    /// The nodes that no other node creates, in order.
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

impl Edge {
    /// The node that needs another node, and the needed node. An object needs its creator.
    pub fn need(&self) -> (usize, usize) {
        match self.kind {
            EdgeKind::Creates => (self.to, self.from),
            EdgeKind::BuildsFrom | EdgeKind::DependsOn | EdgeKind::Reads => (self.from, self.to),
        }
    }
}
