//! The graph of Flux: a tree for people, JSON for programs, pictures for documents.

mod dot;
mod json;
mod mermaid;
mod text;

use std::io::{self, Write};

use crate::base::finding::ObjectRef;
use crate::flux::query::graph::Graph;

use super::text::printable;

pub use json::schema;

/// A way to write graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// A tree that fits a terminal.
    Text,
    /// One JSON document.
    Json,
    /// A flowchart of Mermaid.
    Mermaid,
    /// A digraph of Graphviz.
    Dot,
}

/// Writes the graphs of clusters.
pub fn write(graphs: &[Graph], format: GraphFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        GraphFormat::Text => text::write(graphs, out),
        GraphFormat::Json => json::write(graphs, out),
        GraphFormat::Mermaid => mermaid::write(graphs, out),
        GraphFormat::Dot => dot::write(graphs, out),
    }
}

/// An object in a line, fit for a terminal.
fn name(reference: &ObjectRef) -> String {
    let name = match &reference.namespace {
        Some(namespace) => format!("{} {namespace}/{}", reference.kind, reference.name),
        None => format!("{} {}", reference.kind, reference.name),
    };
    one_line(&name)
}

fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// A cluster's name in a line; something for the one that has none.
fn cluster(graph: &Graph) -> String {
    if graph.cluster.is_empty() { "this repository".to_owned() } else { one_line(&graph.cluster) }
}
