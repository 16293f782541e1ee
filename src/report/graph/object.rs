//! Text about one object: a tree of the objects that it needs, and a tree of the objects that need it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::labels::{name, state_notes};
use super::tree::{Branch, Labels, draw};
use crate::graph::{EdgeKind, Graph, Role};
use crate::report::printable::one_line;

pub(super) fn write(graph: &Graph, center: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(node) = graph.nodes.get(center) else { return Ok(()) };
    let notes = Direction::Needs.notes(graph, center);
    let gap = if notes.is_empty() { "" } else { "  " };
    writeln!(out, "{}{gap}{notes}", name(&node.reference))?;
    for direction in [Direction::Needs, Direction::Users] {
        let tree = Tree::new(graph, direction);
        let mut tops = tree.below(center);
        tops.retain(|branch| branch.node != center);
        match (direction, tops.is_empty()) {
            (Direction::Needs, true) => writeln!(out, "needs nothing")?,
            (Direction::Needs, false) => writeln!(out, "needs:")?,
            (Direction::Users, true) => writeln!(out, "nothing needs it")?,
            (Direction::Users, false) => writeln!(out, "needed by:")?,
        }
        draw(&tops, graph.nodes.len(), &tree, out)?;
    }
    Ok(())
}

/// The direction of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From an object to the objects that it needs.
    Needs,
    /// From an object to the objects that need it.
    Users,
}

impl Direction {
    fn notes(self, graph: &Graph, at: usize) -> String {
        let Some(node) = graph.nodes.get(at) else { return String::new() };
        let missing = (node.role == Role::Missing).then(|| "not received".to_owned());
        let detail = node.detail.as_deref().map(one_line).filter(|_| self == Self::Needs);
        detail.into_iter().chain(missing).chain(state_notes(node)).collect::<Vec<_>>().join("; ")
    }

    /// The word for an edge to the node below.
    fn relation(self, kind: EdgeKind) -> &'static str {
        match (self, kind) {
            (Self::Needs, EdgeKind::Creates) => "creates it",
            (Self::Needs, EdgeKind::BuildsFrom) => "source",
            (Self::Needs, EdgeKind::DependsOn) => "dependency",
            (Self::Needs, EdgeKind::Reads) => "reference",
            (Self::Users, EdgeKind::Creates) => "created by it",
            (Self::Users, EdgeKind::BuildsFrom) => "built from it",
            (Self::Users, EdgeKind::DependsOn) => "depends on it",
            (Self::Users, EdgeKind::Reads) => "references it",
        }
    }
}

struct Tree<'a> {
    graph: &'a Graph,
    direction: Direction,
    /// The edges of each node to the nodes below it.
    below: BTreeMap<usize, Vec<Branch>>,
}

impl<'a> Tree<'a> {
    fn new(graph: &'a Graph, direction: Direction) -> Self {
        let mut below: BTreeMap<usize, Vec<Branch>> = BTreeMap::new();
        for edge in &graph.edges {
            let (user, needed) = edge.need();
            let (above, node) = if direction == Direction::Needs { (user, needed) } else { (needed, user) };
            below.entry(above).or_default().push(Branch { node, relation: direction.relation(edge.kind) });
        }
        Self { graph, direction, below }
    }
}

impl Labels for Tree<'_> {
    fn title(&self, node: usize) -> Option<String> {
        self.graph.nodes.get(node).map(|node| name(&node.reference))
    }

    fn notes(&self, node: usize, _used: usize) -> String {
        self.direction.notes(self.graph, node)
    }

    fn below(&self, node: usize) -> Vec<Branch> {
        let mut below = self.below.get(&node).cloned().unwrap_or_default();
        let order = |branch: &Branch| self.graph.nodes.get(branch.node).map(|node| (node.role, name(&node.reference)));
        below.sort_by_cached_key(order);
        below
    }
}
