//! Mermaid flowcharts, which Git hosts render in Markdown.

use std::io::{self, Write};

use super::labels::{cluster, name};
use crate::graph::{EdgeKind, Graph, Role};

/// The default `maxEdges` of Mermaid.
const MAX_EDGES: usize = 500;
/// The default `maxTextSize` of Mermaid, in characters.
const MAX_TEXT: usize = 50_000;

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
                Role::Object => ("[/", "/]"),
                Role::Missing => ("{{", "}}"),
            };
            writeln!(out, "    c{number}n{at}{open}\"{}\"{close}", escaped(&name(&node.reference)))?;
        }
        for edge in &graph.edges {
            let arrow = match edge.kind {
                EdgeKind::Creates => "-->",
                EdgeKind::BuildsFrom => "-. from .->",
                EdgeKind::Reads => "-. reads .->",
                EdgeKind::DependsOn => "-- after -->",
            };
            writeln!(out, "    c{number}n{} {arrow} c{number}n{}", edge.from, edge.to)?;
        }
        if let Some(center) = graph.center {
            writeln!(out, "    style c{number}n{center} stroke-width:4px")?;
        }
        writeln!(out, "  end")?;
    }
    Ok(())
}

/// Returns a message if Mermaid rejects a chart with this number of characters under its default configuration.
///
/// Source: the defaults of `maxEdges` and `maxTextSize` in Mermaid's configuration.
pub fn exceeded_limits(graphs: &[Graph], characters: usize) -> Option<String> {
    let edges: usize = graphs.iter().map(|graph| graph.edges.len()).sum();
    (edges > MAX_EDGES || characters > MAX_TEXT).then(|| {
        format!(
            "Mermaid does not draw this chart by default: it has {edges} edges and {} KB, and the limits are \
             {MAX_EDGES} edges and {} KB; select a part with `--cluster` or with an object, use `--format dot`, or raise \
             `maxEdges` and `maxTextSize` in the configuration of Mermaid",
            characters.div_ceil(1000),
            MAX_TEXT / 1000,
        )
    })
}

/// Escapes a text for a quoted label: replaces characters that are special in Mermaid or HTML with numeric entities.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | ';' => format!("#{};", u32::from(c)),
            other => other.to_string(),
        })
        .collect()
}
