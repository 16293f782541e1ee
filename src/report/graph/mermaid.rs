//! A flowchart of Mermaid, which Git hosts draw in Markdown.

use std::io::{self, Write};

use super::labels::{cluster, name};
use crate::flux::query::graph::{EdgeKind, Graph, Role};

pub(super) fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "flowchart LR")?;
    for (number, graph) in graphs.iter().enumerate() {
        writeln!(out, "  subgraph c{number}[\"{}\"]", escaped(&cluster(graph)))?;
        for (at, node) in graph.nodes.iter().enumerate() {
            let (open, close) = match node.role {
                Role::Bootstrap | Role::Folder => ("([", "])"),
                Role::Source => ("[(", ")]"),
                Role::Applier => ("[", "]"),
                Role::Release => ("(", ")"),
                Role::Missing => ("{{", "}}"),
            };
            writeln!(out, "    c{number}n{at}{open}\"{}\"{close}", escaped(&name(&node.reference)))?;
        }
        for edge in &graph.edges {
            let arrow = match edge.kind {
                EdgeKind::Creates => "-->",
                EdgeKind::BuildsFrom => "-. from .->",
                EdgeKind::DependsOn => "-- after -->",
            };
            writeln!(out, "    c{number}n{} {arrow} c{number}n{}", edge.from, edge.to)?;
        }
        writeln!(out, "  end")?;
    }
    Ok(())
}

/// A text between the quotes of a label: what has a meaning there or in HTML becomes the entity of its number.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | ';' => format!("#{};", u32::from(c)),
            other => other.to_string(),
        })
        .collect()
}
