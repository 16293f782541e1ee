//! The surroundings of one object: the objects that it needs and the objects that need it, directly or indirectly.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{of_received, of_referenced};
use super::model::{Edge, Graph, Role};
use crate::base::finding::ObjectRef;
use crate::flux::{Applied, Cluster};

/// The part of a cluster's graph around an object that the cluster receives, from one or more appliers.
pub fn around(cluster: &Cluster, first: Applied<'_>, others: &[Applied<'_>]) -> Graph {
    let (whole, center) = of_received(cluster, first, others);
    surroundings(whole, center)
}

/// The part of a cluster's graph around an object that other objects reference; `None` if `matches` selects no object.
pub fn around_referenced(cluster: &Cluster, matches: impl Fn(&ObjectRef) -> bool) -> Option<Graph> {
    let (whole, center) = of_referenced(cluster, matches)?;
    Some(surroundings(whole, center))
}

fn surroundings(mut whole: Graph, center: usize) -> Graph {
    // The bootstrap often has the same name as the object that it creates, and every object needs the bootstrap.
    let is_bootstrap = |at: usize| whole.nodes.get(at).is_some_and(|node| node.role == Role::Bootstrap);
    whole.edges.retain(|edge| !is_bootstrap(edge.from));
    let mut edges = reached(&whole, center, Edge::need);
    edges.extend(reached(&whole, center, |edge| (edge.need().1, edge.need().0)));
    part(whole, center, &edges)
}

/// The edges on all paths from a node. `direction` returns the start and the end of an edge.
fn reached(graph: &Graph, center: usize, direction: impl Fn(&Edge) -> (usize, usize)) -> BTreeSet<Edge> {
    let mut outgoing: BTreeMap<usize, Vec<Edge>> = BTreeMap::new();
    for edge in &graph.edges {
        outgoing.entry(direction(edge).0).or_default().push(*edge);
    }
    let (mut edges, mut seen, mut open) = (BTreeSet::new(), BTreeSet::from([center]), vec![center]);
    while let Some(at) = open.pop() {
        for edge in outgoing.get(&at).map_or(&[][..], Vec::as_slice) {
            edges.insert(*edge);
            let end = direction(edge).1;
            if seen.insert(end) {
                open.push(end);
            }
        }
    }
    edges
}

/// The part of a graph that consists of some edges and a node.
fn part(graph: Graph, center: usize, edges: &BTreeSet<Edge>) -> Graph {
    let kept: BTreeSet<usize> = edges.iter().flat_map(|edge| [edge.from, edge.to]).chain([center]).collect();
    let numbers: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(number, at)| (*at, number)).collect();
    let number = |at: usize| numbers.get(&at).copied().unwrap_or_default();
    let nodes = graph.nodes.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, node)| node).collect();
    // The new numbers have the same order, so the edges stay sorted.
    let edges = edges.iter().map(|edge| Edge { from: number(edge.from), to: number(edge.to), ..*edge }).collect();
    Graph { nodes, edges, center: Some(number(center)), ..graph }
}
