//! A digraph of Graphviz.

use std::io::{self, Write};

use super::labels::{cluster, name};
use crate::flux::query::graph::{EdgeKind, Graph, Role};

pub(super) fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph fleet {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box];")?;
    for (number, graph) in graphs.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{number} {{")?;
        writeln!(out, "    label=\"{}\";", escaped(&cluster(graph)))?;
        for (at, node) in graph.nodes.iter().enumerate() {
            let style = match node.role {
                Role::Bootstrap | Role::Folder => ", shape=oval",
                Role::Source => ", shape=cylinder",
                Role::Applier => "",
                Role::Release => ", style=rounded",
                Role::Missing => ", style=dashed",
            };
            writeln!(out, "    c{number}n{at} [label=\"{}\"{style}];", escaped(&name(&node.reference)))?;
        }
        for edge in &graph.edges {
            let style = match edge.kind {
                EdgeKind::Creates => "",
                EdgeKind::BuildsFrom => " [style=dotted, label=\"from\"]",
                EdgeKind::DependsOn => " [style=dashed, label=\"after\"]",
            };
            writeln!(out, "    c{number}n{} -> c{number}n{}{style};", edge.from, edge.to)?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

/// A text between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
