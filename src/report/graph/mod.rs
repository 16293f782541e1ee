//! The graph of Flux: a tree for people, JSON for programs, pictures for documents.

mod json;
mod labels;
mod dot;
mod mermaid;
mod text;

use std::io::{self, Write};

use crate::flux::query::graph::Graph;

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
