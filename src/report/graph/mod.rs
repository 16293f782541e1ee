//! Output of graphs: a tree for terminals, JSON for programs, Mermaid and Graphviz for documents.

mod json;
mod labels;
mod dot;
mod mermaid;
mod tree;
mod object;
mod text;

use std::io::{self, Write};

use crate::graph::Graph;

pub use json::schema;
pub use mermaid::exceeded_limits;

/// The output format of graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// Trees of text, with lines of at most `width` characters unless their names are longer.
    Text {
        /// The maximum width; `None` for lines of any length.
        width: Option<usize>,
    },
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
        GraphFormat::Text { width } => text::write(graphs, width, out),
        GraphFormat::Json => json::write(graphs, out),
        GraphFormat::Mermaid => mermaid::write(graphs, out),
        GraphFormat::Dot => dot::write(graphs, out),
    }
}
