//! A tree for terminals: objects below their creators, each with its source and its dependencies.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::labels::{cluster, name, state_note, target_note};
use super::object;
use super::tree::{Branch, Labels, draw};
use crate::base::finding::ObjectRef;
use crate::flux::{NotBuiltReason, State};
use crate::graph::{EdgeKind, Graph, GraphNode, Role};
use crate::report::printable::one_line;

/// The minimum width of a shortened path.
const SHORTEST: usize = 12;

const HEADING: Style = Style::new().bold();

/// Writes the graphs with lines of at most `width` characters, unless their names are longer.
pub(super) fn write(graphs: &[Graph], width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    for (number, graph) in graphs.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{HEADING}{}{HEADING:#}", heading(graph))?;
        match graph.center {
            Some(center) => object::write(graph, center, out)?,
            None => tree(graph, width, out)?,
        }
    }
    Ok(())
}

fn heading(graph: &Graph) -> String {
    if graph.cluster.is_empty() { cluster(graph) } else { format!("cluster {}", cluster(graph)) }
}

fn tree(graph: &Graph, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let tops = graph.tops();
    let is_missing = |at: &usize| graph.nodes.get(*at).is_some_and(|node| node.role == Role::Missing);
    let (missing, tops): (Vec<usize>, Vec<usize>) = tops.into_iter().partition(is_missing);
    // The bootstrap node represents the cluster, which the heading shows already.
    let is_bootstrap = |at: &usize| graph.nodes.get(*at).is_some_and(|node| node.role == Role::Bootstrap);
    let first = |at: usize| -> Vec<usize> {
        if is_bootstrap(&at) { graph.targets(at, EdgeKind::Creates).collect() } else { vec![at] }
    };
    let tops = tops.into_iter().flat_map(first).map(created);
    draw(&tops.collect::<Vec<_>>(), graph.nodes.len(), &Tree { graph, width }, out)?;
    reasons(graph, out)?;
    if missing.is_empty() {
        return Ok(());
    }
    let others =
        if graph.cluster.is_empty() { "referenced here but not found" } else { "referenced there but not received" };
    writeln!(out, "{others}:")?;
    let mut names: Vec<String> =
        missing.iter().filter_map(|at| graph.nodes.get(*at)).map(|node| name(&node.reference)).collect();
    names.sort();
    names.iter().try_for_each(|name| writeln!(out, "   {name}"))
}

/// A node below the node that creates it. This relation needs no word.
fn created(node: usize) -> Branch {
    Branch { node, relation: "" }
}

/// The tree of a cluster: each node is below the node that creates it.
struct Tree<'a> {
    graph: &'a Graph,
    /// The maximum width of a line.
    width: Option<usize>,
}

impl Labels for Tree<'_> {
    fn title(&self, node: usize) -> Option<String> {
        self.graph.nodes.get(node).map(|node| name(&node.reference))
    }

    fn notes(&self, node: usize, used: usize) -> String {
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(used));
        self.graph.nodes.get(node).map(|found| notes(self.graph, node, found, room)).unwrap_or_default()
    }

    fn below(&self, node: usize) -> Vec<Branch> {
        let mut children: Vec<usize> = self.graph.targets(node, EdgeKind::Creates).collect();
        children.sort_by_cached_key(|at| self.graph.nodes.get(*at).map(order));
        children.into_iter().map(created).collect()
    }
}

/// Writes each reason why objects were not built once, with a count.
fn reasons(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut reasons: BTreeMap<&NotBuiltReason, usize> = BTreeMap::new();
    for node in &graph.nodes {
        if let Some(State::NotBuilt(why)) = &node.state {
            *reasons.entry(why).or_default() += 1;
        }
    }
    reasons
        .into_iter()
        .try_for_each(|(why, count)| writeln!(out, "not built ({count}): {}", one_line(&why.to_string())))
}

/// Returns the sort key of a node: sources first, then by name.
fn order(node: &GraphNode) -> (Role, String) {
    (node.role, name(&node.reference))
}

/// Returns the notes beside a name, as far as they fit in `room`. The state has priority over dependencies, and
/// dependencies have priority over the source.
fn notes(graph: &Graph, at: usize, node: &GraphNode, room: usize) -> String {
    let (target, state) = (target_note(node), state_note(node));
    let needs = list(graph, at, node, EdgeKind::DependsOn);
    let mut used: usize = state.iter().chain(&target).map(|note| width(note) + 2).sum();
    let needs = (!needs.is_empty()).then(|| fitting(&needs, room.saturating_sub(used)));
    used += needs.iter().map(|note| width(note) + 2).sum::<usize>();
    let origin = origin(graph, at, node, room.saturating_sub(used));
    let notes: Vec<String> = [origin, target, needs, state].into_iter().flatten().collect();
    notes.join("; ")
}

/// Returns the directory and the source; without room, the directory or the end of its path.
fn origin(graph: &Graph, at: usize, node: &GraphNode, room: usize) -> Option<String> {
    let sources = list(graph, at, node, EdgeKind::BuildsFrom);
    let detail = node.detail.as_deref().map(one_line);
    let whole = match (&detail, sources.is_empty()) {
        (Some(detail), false) => format!("{detail} of {}", sources.join(", ")),
        (Some(detail), true) => detail.clone(),
        (None, false) => format!("of {}", sources.join(", ")),
        (None, true) => return None,
    };
    if width(&whole) <= room {
        return Some(whole);
    }
    let detail = detail?;
    let length = width(&detail);
    if length <= room {
        return Some(detail);
    }
    (room >= SHORTEST).then(|| ['…'].into_iter().chain(detail.chars().skip(length + 1 - room)).collect())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns the dependencies that fit in `room`, and the number of the other dependencies.
fn fitting(needs: &[String], room: usize) -> String {
    let whole = format!("after {}", needs.join(", "));
    if whole.chars().count() <= room || needs.len() == 1 {
        return whole;
    }
    // Each name is longer than the digit that a shorter list may add.
    let mut used = 0;
    let fit = needs.iter().take_while(|name| {
        used += width(name) + 2;
        used <= room
    });
    let shown = (1..=fit.count().min(needs.len() - 1)).rev().map(|count| {
        let shown = needs.get(..count).unwrap_or_default().join(", ");
        format!("after {shown} and {} more", needs.len() - count)
    });
    let mut shown = shown.take(needs.len());
    shown.find(|text| text.chars().count() <= room).unwrap_or_else(|| format!("after {} others", needs.len()))
}

/// Returns the targets of a node's edges, by their shortest unambiguous names.
fn list(graph: &Graph, at: usize, node: &GraphNode, kind: EdgeKind) -> Vec<String> {
    let others = graph.targets(at, kind).filter_map(|to| graph.nodes.get(to));
    let mut names: Vec<String> = others
        .map(|other| match kind {
            EdgeKind::DependsOn => short(&other.reference, node, other.reference.kind == node.reference.kind),
            EdgeKind::BuildsFrom | EdgeKind::Creates | EdgeKind::Reads => short(&other.reference, node, false),
        })
        .collect();
    names.sort();
    names
}

fn short(reference: &ObjectRef, from: &GraphNode, same_kind: bool) -> String {
    let kind = if same_kind { String::new() } else { format!("{} ", reference.kind) };
    let namespace = reference.namespace.as_ref().filter(|own| Some(*own) != from.reference.namespace.as_ref());
    let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    one_line(&format!("{kind}{namespace}{}", reference.name))
}
