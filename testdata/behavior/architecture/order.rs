//! The order of modules in every `mod.rs`, and the cycles between files.

use std::collections::BTreeMap;
use std::path::Path;

use petgraph::algo::{astar, tarjan_scc};
use petgraph::graphmap::DiGraphMap;

use super::modules::Modules;
use super::uses::{Use, Uses};
use super::{Complaint, shown};

/// The uses of modules that their parent lists below the user, each at its file and once for each `mod.rs`.
///
/// Two files are judged by the modules in which their paths diverge. The order in lib.rs is judged elsewhere.
pub(super) fn misplaced(modules: &Modules, uses: &Uses, house: &Path) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut siblings: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for ((file, _), used) in uses {
        let Some((parent, ours, theirs)) = diverging(modules, used) else { continue };
        siblings.entry(parent).or_default().push((ours, theirs));
        if theirs > ours {
            let parent = modules.get(parent);
            let (ours, theirs) = (&parent.children[ours], &parent.children[theirs]);
            let list = shown(&parent.file, house);
            let complaint = format!(
                "`{ours}` uses {} of `{theirs}`, which {list} lists below it; \
                 list `{theirs}` above `{ours}`, or move the shared item to a module above both",
                quoted(&used.names)
            );
            complaints.push((file.clone(), used.line, complaint));
        }
    }
    for (parent, edges) in siblings {
        let against = edges.iter().filter(|(ours, theirs)| theirs > ours).count();
        if against > 0 {
            let parent = modules.get(parent);
            complaints.push((shown(&parent.file, house), 1, reordered(&parent.children, &edges, against)));
        }
    }
    complaints
}

/// The module below which the two files of a use diverge, and the positions of its children that contain them.
fn diverging(modules: &Modules, used: &Use) -> Option<(usize, usize, usize)> {
    let (from, to) = (&modules.get(used.from).names, &modules.get(used.to).names);
    let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
    if shared == 0 {
        return None;
    }
    let parent = modules.closest(&from[..shared])?;
    let children = &modules.get(parent).children;
    let position = |name: &String| children.iter().position(|child| child == name);
    Some((parent, position(from.get(shared)?)?, position(to.get(shared)?)?))
}

/// The complaint about a list of modules, with a valid order if there is one.
fn reordered(children: &[String], edges: &[(usize, usize)], against: usize) -> String {
    let mut graph: DiGraphMap<usize, ()> = edges.iter().copied().collect();
    for position in 0..children.len() {
        graph.add_node(position);
    }
    // The components come in the order of a list: those that are used before their users.
    let components = tarjan_scc(&graph);
    let names = |component: &Vec<usize>| component.iter().map(|&child| children[child].clone()).collect::<Vec<_>>();
    let cyclic: Vec<String> = components
        .iter()
        .filter(|component| component.len() > 1)
        .map(|component| {
            let mut names = names(component);
            names.sort_unstable();
            quoted(&names)
        })
        .collect();
    if cyclic.is_empty() {
        let order: Vec<String> = components.iter().flat_map(names).collect();
        return format!("the order of modules contradicts {against} uses; list them as {}", order.join(", "));
    }
    format!(
        "the order of modules contradicts {against} uses, and no order is valid: modules use each other ({}); \
         move the shared items to a module above",
        cyclic.join("; ")
    )
}

/// Cycles between files, the shortest first, until the rest has none: no two of them share a use.
pub(super) fn cycles(uses: &Uses) -> Vec<Complaint> {
    let files = uses.keys().map(|(from, to)| (from.as_str(), to.as_str()));
    let mut graph: DiGraphMap<&str, ()> = files.collect();
    let mut complaints = Vec::new();
    let mut least = 2;
    while let Some((cycle, size)) = shortest_cycle(&graph, least) {
        // Without the uses of a cycle, no other becomes shorter.
        least = cycle.len();
        let edges: Vec<(&str, &str)> = cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1)).collect();
        let described = edges.iter().map(|&(from, to)| {
            let edge = &uses[&(from.to_owned(), to.to_owned())];
            format!("{from}:{} uses {} of {to}", edge.line, quoted(&edge.names))
        });
        let described = described.collect::<Vec<String>>().join(", ");
        let group = if size > cycle.len() { format!(" ({size} files use each other)") } else { String::new() };
        let complaint =
            format!("files form an import cycle: {described}; move the shared items to a separate file{group}");
        let first = &uses[&(edges[0].0.to_owned(), edges[0].1.to_owned())];
        complaints.push((edges[0].0.to_owned(), first.line, complaint));
        for (from, to) in edges {
            graph.remove_edge(from, to);
        }
    }
    complaints
}

/// A shortest cycle, and the number of files that use each other around it; no cycle has fewer than `least` files.
fn shortest_cycle<'a>(graph: &DiGraphMap<&'a str, ()>, least: usize) -> Option<(Vec<&'a str>, usize)> {
    let mut shortest: Option<(Vec<&str>, usize)> = None;
    for component in tarjan_scc(graph).into_iter().filter(|component| component.len() > 1) {
        let mut files = component.clone();
        files.sort_unstable();
        for from in files {
            for to in graph.neighbors(from).filter(|to| component.contains(to)) {
                let back = astar(graph, to, |node| node == from, |_| 1_usize, |_| 0);
                let Some((_, cycle)) = back else { continue };
                if cycle.len() == least {
                    return Some((cycle, component.len()));
                }
                if shortest.as_ref().is_none_or(|(shortest, _)| cycle.len() < shortest.len()) {
                    shortest = Some((cycle, component.len()));
                }
            }
        }
    }
    shortest
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}
