//! Graphviz output.

use std::io::{self, Write};

use super::labels::{cluster, name};
use crate::graph::{EdgeKind, Graph, Role};

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
                Role::Object => ", shape=note",
                Role::Missing => ", style=dashed",
            };
            let width = if graph.center == Some(at) { ", penwidth=3" } else { "" };
            writeln!(out, "    c{number}n{at} [label=\"{}\"{style}{width}];", escaped(&name(&node.reference)))?;
        }
        for edge in &graph.edges {
            let style = match edge.kind {
                EdgeKind::Creates => "",
                EdgeKind::BuildsFrom => " [style=dotted, label=\"from\"]",
                EdgeKind::Reads => " [style=dotted, label=\"reads\"]",
                EdgeKind::DependsOn => " [style=dashed, label=\"after\"]",
            };
            writeln!(out, "    c{number}n{} -> c{number}n{}{style};", edge.from, edge.to)?;
        }
        writeln!(out, "  }}")?;
    }
    writeln!(out, "}}")
}

/// Escapes a text for a quoted string.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
