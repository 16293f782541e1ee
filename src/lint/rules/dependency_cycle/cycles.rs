//! Cycles in a directed graph.

use std::collections::{BTreeMap, VecDeque};

/// Returns one cycle for each strongly connected component: the shortest one through its first node. `edges` lists the
/// successors of each node. The running time is linear in nodes and edges.
pub(crate) fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let groups = groups(edges);
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (start, group) in groups.iter().enumerate() {
        if found.contains_key(group) {
            continue;
        }
        if let Some(cycle) = shortest_from(start, edges, &groups) {
            found.insert(*group, cycle);
        }
    }
    let mut cycles: Vec<Vec<usize>> = found.into_values().collect();
    cycles.sort();
    cycles
}

/// The shortest path from a node back to itself.
fn shortest_from(start: usize, edges: &[Vec<usize>], groups: &[usize]) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for to in edges[at].iter().filter(|to| groups[**to] == groups[start]) {
            if *to == start {
                let back = std::iter::successors(Some(at), |at| came_from.get(at).copied());
                let mut cycle: Vec<usize> = back.collect();
                cycle.reverse();
                return Some(cycle);
            }
            if !came_from.contains_key(to) {
                came_from.insert(*to, at);
                open.push_back(*to);
            }
        }
    }
    None
}

/// Numbers the strongly connected components, and returns the number of each node's component.
///
/// Uses Tarjan's algorithm with an explicit stack, because a long chain would overflow the stack of the thread.
fn groups(edges: &[Vec<usize>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut group = vec![NEW; edges.len()];
    let (mut next, mut groups) = (0, 0);
    let mut open: Vec<usize> = Vec::new();
    for start in 0..edges.len() {
        if number[start] != NEW {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((at, edge)) = path.pop() {
            if edge == 0 {
                (number[at], low[at]) = (next, next);
                next += 1;
                open.push(at);
            }
            if let Some(to) = edges[at].get(edge).copied() {
                path.push((at, edge + 1));
                if number[to] == NEW {
                    path.push((to, 0));
                } else if group[to] == NEW {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            if low[at] == number[at] {
                while let Some(member) = open.pop() {
                    group[member] = groups;
                    if member == at {
                        break;
                    }
                }
                groups += 1;
            }
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::cycles;

    #[test]
    fn each_component_has_one_cycle_and_a_node_that_leads_to_it_has_none() {
        let edges = [vec![1], vec![2, 3], vec![1], vec![4], vec![4], vec![6], vec![7], vec![5], vec![]];
        assert_eq!(cycles(&edges), [vec![1, 2], vec![4], vec![5, 6, 7]]);
        assert!(cycles(&[vec![1], vec![2], vec![]]).is_empty());
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let count = 200_000;
        let edges: Vec<Vec<usize>> = (0..count).map(|at| vec![(at + 1) % count]).collect();
        assert_eq!(cycles(&edges)[0].len(), count);
    }
}
