//! Directed graphs: strongly connected components, shortest paths and reachability.
//!
//! The algorithms do not recurse, since a path in a user's files may be too long for the stack. All results depend only
//! on the order in which edges were added, so messages are stable.

use std::collections::VecDeque;

/// A directed graph with numbered nodes and labeled edges.
#[derive(Debug, Clone)]
pub struct Graph<E> {
    edges: Vec<Vec<Edge<E>>>,
}

/// An edge that leaves a node.
#[derive(Debug, Clone)]
pub struct Edge<E> {
    /// The node that the edge leads to.
    pub to: usize,
    /// The label.
    pub label: E,
}

/// A step of a path: the node, and the position of the edge among the edges that leave the node.
pub type Step = (usize, usize);

impl<E> Default for Graph<E> {
    fn default() -> Self {
        Self { edges: Vec::new() }
    }
}

impl<E> Graph<E> {
    /// Creates a graph without edges.
    pub fn new(nodes: usize) -> Self {
        Self { edges: (0..nodes).map(|_| Vec::new()).collect() }
    }

    /// Adds a node and returns its number.
    pub fn add_node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Adds an edge. Ignores an edge from an unknown node.
    pub fn add_edge(&mut self, from: usize, to: usize, label: E) {
        if let Some(edges) = self.edges.get_mut(from) {
            edges.push(Edge { to, label });
        }
    }

    /// The edges that leave a node, in the order in which they were added.
    pub fn edges(&self, from: usize) -> &[Edge<E>] {
        self.edges.get(from).map_or(&[], Vec::as_slice)
    }

    /// All edges with the nodes that they leave.
    pub fn all_edges(&self) -> impl Iterator<Item = (usize, &Edge<E>)> {
        self.edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |edge| (from, edge)))
    }

    /// The strongly connected components with a cycle, over a selection of the edges. Each component is sorted.
    ///
    /// Source: Tarjan's algorithm.
    pub fn cyclic_components(&self, is_selected: impl Fn(&Edge<E>) -> bool) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let count = self.edges.len();
        let (mut number, mut low, mut on_stack) = (vec![NEW; count], vec![0; count], vec![false; count]);
        let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
        for start in 0..count {
            let mut calls: Vec<Step> = if number[start] == NEW { vec![(start, 0)] } else { Vec::new() };
            while let Some((node, at)) = calls.pop() {
                if at == 0 {
                    (number[node], low[node], on_stack[node]) = (next, next, true);
                    next += 1;
                    stack.push(node);
                }
                if let Some(edge) = self.edges[node].get(at) {
                    calls.push((node, at + 1));
                    if is_selected(edge) && number[edge.to] == NEW {
                        calls.push((edge.to, 0));
                    } else if is_selected(edge) && on_stack[edge.to] {
                        low[node] = low[node].min(number[edge.to]);
                    }
                    continue;
                }
                if low[node] == number[node] {
                    let start = stack.iter().rposition(|open| *open == node).unwrap_or_default();
                    let mut component = stack.split_off(start);
                    for member in &component {
                        on_stack[*member] = false;
                    }
                    let is_loop = || self.edges[node].iter().any(|edge| edge.to == node && is_selected(edge));
                    if component.len() > 1 || is_loop() {
                        component.sort_unstable();
                        found.push(component);
                    }
                }
                if let Some((caller, _)) = calls.last() {
                    low[*caller] = low[*caller].min(low[node]);
                }
            }
        }
        found
    }

    /// The shortest path between two nodes over a selection of the edges.
    ///
    /// The path has at least one step, so the path from a node to itself is a cycle.
    pub fn shortest_path(&self, from: usize, to: usize, is_selected: impl Fn(&Edge<E>) -> bool) -> Option<Vec<Step>> {
        let mut came_by: Vec<Option<Step>> = vec![None; self.edges.len()];
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            for (at, edge) in self.edges(node).iter().enumerate() {
                if !is_selected(edge) || came_by.get(edge.to).is_none_or(Option::is_some) {
                    continue;
                }
                came_by[edge.to] = Some((node, at));
                if edge.to == to {
                    let mut path: Vec<Step> = Vec::new();
                    let mut step = came_by[to];
                    while let Some((node, at)) = step {
                        path.push((node, at));
                        step = came_by[node].filter(|_| node != from);
                    }
                    path.reverse();
                    return Some(path);
                }
                open.push_back(edge.to);
            }
        }
        None
    }

    /// The nodes that a node reaches over a selection of the edges. The node reaches itself only if it is on a cycle.
    pub fn reachable(&self, from: usize, is_selected: impl Fn(&Edge<E>) -> bool) -> Vec<bool> {
        let mut seen = vec![false; self.edges.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for edge in self.edges(node) {
                if is_selected(edge) && seen.get(edge.to) == Some(&false) {
                    seen[edge.to] = true;
                    open.push(edge.to);
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph<()> {
        let mut graph = Graph::new(nodes);
        for (from, to) in edges {
            graph.add_edge(*from, *to, ());
        }
        graph
    }

    #[test]
    fn components_have_a_cycle() {
        let chain = graph(3, &[(0, 1), (1, 2), (0, 2)]);
        assert!(chain.cyclic_components(|_| true).is_empty());
        let cycles = graph(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 4), (1, 5), (6, 6), (6, 0)]);
        assert_eq!(cycles.cyclic_components(|_| true), [vec![4, 5], vec![0, 1, 2], vec![6]]);
        assert_eq!(cycles.cyclic_components(|edge| edge.to != 0), [vec![4, 5], vec![6]]);
    }

    #[test]
    fn the_shortest_path_prefers_edges_that_were_added_first() {
        let graph = graph(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 0)]);
        assert_eq!(graph.shortest_path(0, 3, |_| true), Some(vec![(0, 0), (1, 0)]));
        assert_eq!(graph.shortest_path(0, 3, |edge| edge.to != 1), Some(vec![(0, 1), (2, 0)]));
        assert_eq!(graph.shortest_path(3, 3, |_| true), Some(vec![(3, 0), (4, 0), (0, 0), (1, 0)]));
        assert_eq!(graph.shortest_path(3, 3, |edge| edge.to != 0), None);
    }

    #[test]
    fn reachable_nodes_exclude_the_start() {
        assert_eq!(graph(3, &[(0, 1)]).reachable(0, |_| true), [false, true, false]);
        assert_eq!(graph(2, &[(0, 1), (1, 0)]).reachable(0, |_| true), [true, true]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<(usize, usize)> = (0..100_000).map(|at| (at, at + 1)).chain([(100_000, 0)]).collect();
        let graph = graph(100_001, &edges);
        assert_eq!(graph.cyclic_components(|_| true).len(), 1);
        assert_eq!(graph.shortest_path(0, 0, |_| true).map(|path| path.len()), Some(100_001));
    }
}
