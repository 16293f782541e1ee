//! JSON output of graphs, with the schema `schemas/graph.schema.json`.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::flux::State;
use crate::graph::{Edge, Graph, GraphNode, Role};
use crate::report::provenance::{JsonReference, schema_of};

/// The version of the document format; an incompatible change increments it.
const VERSION: u32 = 1;

/// The output of `fleetwright graph --format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Graph of a Flux repository", deny_unknown_fields)]
struct Document {
    /// The version of the document format.
    #[schemars(range(min = 1, max = 1))]
    version: u32,
    /// One graph per cluster.
    clusters: Vec<JsonGraph>,
}

/// The graph of a cluster.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Graph", deny_unknown_fields)]
struct JsonGraph {
    /// The name of the cluster; empty in a repository without a root.
    name: String,
    /// The nodes.
    nodes: Vec<JsonNode>,
    /// The edges.
    edges: Vec<Edge>,
    /// The number of the node whose surroundings the graph shows; absent for the graph of a whole cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<usize>,
}

/// A Flux object, a directory, or a bootstrap installation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Node", deny_unknown_fields)]
struct JsonNode {
    /// The number of the node in this graph, from 0.
    id: usize,
    /// The role of the node.
    role: Role,
    /// The identity of the object.
    object: JsonReference,
    /// The directory of an applier, the URL of a source, or the chart of a release; null if there is none.
    detail: Option<String>,
    /// The `kubeConfig` of the remote cluster that the node applies to; null otherwise.
    target: Option<String>,
    /// The state of the build: `built`, `failed` or `notBuilt`; null if the node does not build.
    state: Option<&'static str>,
    /// The reason why the node was not built; null otherwise.
    reason: Option<String>,
}

pub(super) fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    let document = Document { version: VERSION, clusters: graphs.iter().map(JsonGraph::from).collect() };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Returns the JSON Schema of the document.
pub fn schema() -> serde_json::Value {
    schema_of::<Document>()
}

impl From<&Graph> for JsonGraph {
    fn from(graph: &Graph) -> Self {
        Self {
            name: graph.cluster.to_string(),
            nodes: graph.nodes.iter().enumerate().map(JsonNode::from).collect(),
            edges: graph.edges.clone(),
            center: graph.center,
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
        Self {
            id,
            role: node.role,
            object: (&node.reference).into(),
            detail: node.detail.clone(),
            target: node.target.as_ref().map(ToString::to_string),
            state,
            reason,
        }
    }
}
