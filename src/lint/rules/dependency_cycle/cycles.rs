//! Circles among things that wait for each other.

use std::collections::{BTreeMap, VecDeque};

/// One circle, the shortest from its first member, for each group of members that all wait for each other. `edges` are
/// the members that each one waits for. Costs as many steps as there are members and edges.
pub(crate) fn circles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let groups = groups(edges);
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (start, group) in groups.iter().enumerate() {
        if found.contains_key(group) {
            continue;
        }
        if let Some(circle) = around(start, edges, &groups) {
            found.insert(*group, circle);
        }
    }
    let mut circles: Vec<Vec<usize>> = found.into_values().collect();
    circles.sort();
    circles
}

/// The shortest way from a member back to itself.
fn around(start: usize, edges: &[Vec<usize>], groups: &[usize]) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for to in edges[at].iter().filter(|to| groups[**to] == groups[start]) {
            if *to == start {
                let back = std::iter::successors(Some(at), |at| came_from.get(at).copied());
                let mut circle: Vec<usize> = back.collect();
                circle.reverse();
                return Some(circle);
            }
            if !came_from.contains_key(to) {
                came_from.insert(*to, at);
                open.push_back(*to);
            }
        }
    }
    None
}

/// The number of each member's group, whose members reach each other.
///
/// Tarjan's algorithm with a stack of its own: a chain may be longer than a thread's stack is deep.
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
    use super::circles;

    #[test]
    fn each_group_shows_one_circle_and_what_leads_to_it_is_none() {
        let edges = [vec![1], vec![2, 3], vec![1], vec![4], vec![4], vec![6], vec![7], vec![5], vec![]];
        assert_eq!(circles(&edges), [vec![1, 2], vec![4], vec![5, 6, 7]]);
        assert!(circles(&[vec![1], vec![2], vec![]]).is_empty());
    }

    #[test]
    fn a_long_chain_is_no_matter() {
        let count = 200_000;
        let edges: Vec<Vec<usize>> = (0..count).map(|at| vec![(at + 1) % count]).collect();
        assert_eq!(circles(&edges)[0].len(), count);
    }
}
