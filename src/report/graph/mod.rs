//! Output of graphs: a tree for terminals, JSON for programs, Mermaid and Graphviz for documents.

mod json;
mod labels;
mod dot;
mod mermaid;
mod text;

use std::io::{self, Write};

use crate::flux::query::graph::Graph;

pub use json::schema;

/// The output format of graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// A tree for terminals.
    Text,
    /// One JSON document.
    Json,
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz digraph.
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
