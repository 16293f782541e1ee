//! For programs: nodes and edges, one cluster after the other; the schema is `schemas/graph.schema.json`.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::flux::State;
use crate::flux::query::graph::{Edge, EdgeKind, Graph, GraphNode, Role};
use crate::report::provenance::{JsonReference, schema_of};

/// The version of the document's shape; a change that a reader could trip over raises it.
const VERSION: u32 = 1;

/// What `fleetwright graph --format json` writes.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "The graph of Flux", deny_unknown_fields)]
struct Document {
    /// The version of this document's shape.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// One graph for each cluster.
    clusters: Vec<JsonGraph>,
}

/// The graph of a cluster.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Graph", deny_unknown_fields)]
struct JsonGraph {
    /// The cluster's name; empty in a repository without a root.
    name: String,
    /// What there is.
    nodes: Vec<JsonNode>,
    /// What holds between them.
    edges: Vec<JsonEdge>,
}

/// Something of Flux.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Node", deny_unknown_fields)]
struct JsonNode {
    /// Its number in this graph, from 0.
    id: usize,
    /// What it is to the others.
    role: JsonRole,
    /// Its identity.
    object: JsonReference,
    /// The folder that it applies, the URL of a source, or the chart of a release; null where there is none.
    detail: Option<String>,
    /// The `kubeConfig` of the other cluster that it applies to; null otherwise.
    target: Option<String>,
    /// How its build went: `built`, `failed` or `notBuilt`; null for what does not build.
    state: Option<&'static str>,
    /// Why it was not built; null otherwise.
    reason: Option<String>,
}

/// What a node is to the others.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Role")]
enum JsonRole {
    /// What somebody installed by hand, with which the cluster begins.
    Bootstrap,
    /// A folder of a repository without a root.
    Folder,
    /// A source.
    Source,
    /// A Kustomization, a ResourceSet or a FluxInstance.
    Applier,
    /// A HelmRelease.
    Release,
    /// What is named and not received.
    Missing,
}

/// What holds between two nodes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edge", deny_unknown_fields)]
struct JsonEdge {
    /// The number of the one that does it.
    from: usize,
    /// The number of the one that it is done to.
    to: usize,
    /// What is done.
    kind: JsonEdgeKind,
}

/// What is done to a node.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EdgeKind")]
enum JsonEdgeKind {
    /// `from` creates `to`.
    Creates,
    /// `from` is built from `to`.
    BuildsFrom,
    /// `from` waits for `to`.
    DependsOn,
}

pub(super) fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, clusters: graphs.iter().map(JsonGraph::from).collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}

impl From<&Graph> for JsonGraph {
    fn from(graph: &Graph) -> Self {
        Self {
            name: graph.cluster.to_string(),
            nodes: graph.nodes.iter().enumerate().map(JsonNode::from).collect(),
            edges: graph.edges.iter().map(JsonEdge::from).collect(),
        }
    }
}

impl From<(usize, &GraphNode)> for JsonNode {
    fn from((id, node): (usize, &GraphNode)) -> Self {
        let (state, reason) = match &node.state {
            None => (None, None),
            Some(State::Built) => (Some("built"), None),
            Some(State::Failed) => (Some("failed"), None),
            Some(State::NotBuilt(why)) => (Some("notBuilt"), Some(why.to_string())),
        };
        let role = match node.role {
            Role::Bootstrap => JsonRole::Bootstrap,
            Role::Folder => JsonRole::Folder,
            Role::Source => JsonRole::Source,
            Role::Applier => JsonRole::Applier,
            Role::Release => JsonRole::Release,
            Role::Missing => JsonRole::Missing,
        };
        Self {
            id,
            role,
            object: (&node.reference).into(),
            detail: node.detail.clone(),
            target: node.target.as_ref().map(ToString::to_string),
            state,
            reason,
        }
    }
}

impl From<&Edge> for JsonEdge {
    fn from(edge: &Edge) -> Self {
        let kind = match edge.kind {
            EdgeKind::Creates => JsonEdgeKind::Creates,
            EdgeKind::BuildsFrom => JsonEdgeKind::BuildsFrom,
            EdgeKind::DependsOn => JsonEdgeKind::DependsOn,
        };
        Self { from: edge.from, to: edge.to, kind }
    }
}
