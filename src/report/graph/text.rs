//! A tree that fits a terminal: who creates whom, and beside each line what it builds from and waits for.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;

use super::labels::{cluster, name, one_line};
use crate::base::finding::ObjectRef;
use crate::flux::State;
use crate::flux::query::graph::{EdgeKind, Graph, GraphNode, Role};

/// A line is at most this wide, as far as the names in it allow.
const WIDTH: usize = 100;

/// What is cut shorter than this says nothing any more.
const SHORTEST: usize = 12;

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

pub(super) fn write(graphs: &[Graph], out: &mut dyn Write) -> io::Result<()> {
    for (number, graph) in graphs.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{HEADING}{}{HEADING:#}", heading(graph))?;
        tree(graph, out)?;
    }
    Ok(())
}

fn heading(graph: &Graph) -> String {
    if graph.cluster.is_empty() { cluster(graph) } else { format!("cluster {}", cluster(graph)) }
}

/// A line that is still to be written, with what stands before it.
struct Line {
    node: usize,
    before: String,
    last: bool,
}

fn tree(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let tops = graph.tops();
    let is_missing = |at: &usize| graph.nodes.get(*at).is_some_and(|node| node.role == Role::Missing);
    let (missing, tops): (Vec<usize>, Vec<usize>) = tops.into_iter().partition(is_missing);
    // What was installed by hand is the cluster: its line would only say that again.
    let by_hand = |at: &usize| graph.nodes.get(*at).is_some_and(|node| node.role == Role::Bootstrap);
    let first = |at: usize| -> Vec<usize> {
        if by_hand(&at) { graph.targets(at, EdgeKind::Creates).collect() } else { vec![at] }
    };
    let tops: Vec<usize> = tops.into_iter().flat_map(first).collect();
    let mut written = vec![false; graph.nodes.len()];
    // A list of its own instead of recursion: a repository may nest as deep as it likes.
    let mut waiting = Vec::new();
    push(&mut waiting, &tops, "");
    while let Some(line) = waiting.pop() {
        let (branch, below) = if line.last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let Some(node) = graph.nodes.get(line.node) else { continue };
        let lead = format!("{}{branch}", line.before);
        let again = written.get(line.node).copied().unwrap_or_default();
        let title = name(&node.reference);
        let room = WIDTH.saturating_sub(lead.chars().count() + title.chars().count() + 2);
        let notes = if again { "(see above)".to_owned() } else { notes(graph, line.node, node, room) };
        let gap = if notes.is_empty() { "" } else { "  " };
        writeln!(out, "{lead}{title}{gap}{QUIET}{notes}{QUIET:#}")?;
        if again {
            continue;
        }
        if let Some(flag) = written.get_mut(line.node) {
            *flag = true;
        }
        let mut children: Vec<usize> = graph.targets(line.node, EdgeKind::Creates).collect();
        children.sort_by_key(|at| graph.nodes.get(*at).map(order));
        push(&mut waiting, &children, &format!("{}{below}", line.before));
    }
    reasons(graph, out)?;
    if missing.is_empty() {
        return Ok(());
    }
    let others = if graph.cluster.is_empty() { "named here and not found" } else { "named there and not received" };
    writeln!(out, "{others}:")?;
    let mut names: Vec<String> =
        missing.iter().filter_map(|at| graph.nodes.get(*at)).map(|node| name(&node.reference)).collect();
    names.sort();
    names.iter().try_for_each(|name| writeln!(out, "   {name}"))
}

/// Why something was not built: said once for all that have one reason.
fn reasons(graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &graph.nodes {
        if let Some(State::NotBuilt(why)) = &node.state {
            *reasons.entry(why).or_default() += 1;
        }
    }
    reasons.into_iter().try_for_each(|(why, count)| writeln!(out, "not built ({count}): {}", one_line(why)))
}

fn push(waiting: &mut Vec<Line>, nodes: &[usize], before: &str) {
    for (number, node) in nodes.iter().enumerate().rev() {
        waiting.push(Line { node: *node, before: before.to_owned(), last: number + 1 == nodes.len() });
    }
}

/// Sources before what builds from them, then by name.
fn order(node: &GraphNode) -> (Role, String) {
    (node.role, name(&node.reference))
}

/// What is said beside a name, as much of it as there is room for: what went wrong first, then what it waits for, and
/// only then what it is made of.
fn notes(graph: &Graph, at: usize, node: &GraphNode, room: usize) -> String {
    let state = match &node.state {
        Some(State::Failed) => Some("does not build".to_owned()),
        Some(State::NotBuilt(_)) => Some("not built".to_owned()),
        Some(State::Built) | None => None,
    };
    let target = node.target.as_ref().map(|target| format!("to {}", one_line(target)));
    let needs = list(graph, at, node, EdgeKind::DependsOn);
    let mut taken: usize = state.iter().chain(&target).map(|note| width(note) + 2).sum();
    let needs = (!needs.is_empty()).then(|| fitting(&needs, room.saturating_sub(taken)));
    taken += needs.iter().map(|note| width(note) + 2).sum::<usize>();
    let made_of = made_of(graph, at, node, room.saturating_sub(taken));
    let notes: Vec<String> = [made_of, target, needs, state].into_iter().flatten().collect();
    notes.join("; ")
}

/// The folder and the source, the folder alone, or its end.
fn made_of(graph: &Graph, at: usize, node: &GraphNode, room: usize) -> Option<String> {
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

/// Dependencies in the room that there is: what does not fit is counted.
fn fitting(needs: &[String], room: usize) -> String {
    let whole = format!("after {}", needs.join(", "));
    if whole.chars().count() <= room || needs.len() == 1 {
        return whole;
    }
    let shown = (1..needs.len()).rev().map(|count| {
        let shown = needs.get(..count).unwrap_or_default().join(", ");
        format!("after {shown} and {} more", needs.len() - count)
    });
    let mut shown = shown.collect::<Vec<_>>().into_iter();
    shown.find(|text| text.chars().count() <= room).unwrap_or_else(|| format!("after {} others", needs.len()))
}

/// The others that an edge leads to, by the shortest name that says which.
fn list(graph: &Graph, at: usize, node: &GraphNode, kind: EdgeKind) -> Vec<String> {
    let others = graph.targets(at, kind).filter_map(|to| graph.nodes.get(to));
    let mut names: Vec<String> = others
        .map(|other| match kind {
            EdgeKind::DependsOn => short(&other.reference, node, other.reference.kind == node.reference.kind),
            EdgeKind::BuildsFrom | EdgeKind::Creates => short(&other.reference, node, false),
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
