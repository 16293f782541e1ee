//! One-line labels of objects and clusters.

use crate::base::finding::ObjectRef;
use crate::flux::State;
use crate::graph::{Graph, GraphNode};
use crate::report::printable::one_line;

/// Returns the kind, namespace and name of an object, escaped for terminals.
pub(super) fn name(reference: &ObjectRef) -> String {
    let name = match &reference.namespace {
        Some(namespace) => format!("{} {namespace}/{}", reference.kind, reference.name),
        None => format!("{} {}", reference.kind, reference.name),
    };
    one_line(&name)
}

/// Returns the name of a cluster, or a placeholder if it is empty.
pub(super) fn cluster(graph: &Graph) -> String {
    if graph.cluster.is_empty() { "this repository".to_owned() } else { one_line(&graph.cluster) }
}

/// Returns the notes about the target and the state of a node.
pub(super) fn state_notes(node: &GraphNode) -> impl Iterator<Item = String> {
    target_note(node).into_iter().chain(state_note(node))
}

pub(super) fn target_note(node: &GraphNode) -> Option<String> {
    node.target.as_ref().map(|target| format!("to {}", one_line(target)))
}

pub(super) fn state_note(node: &GraphNode) -> Option<String> {
    match &node.state {
        Some(State::Failed) => Some("does not build".to_owned()),
        Some(State::NotBuilt(_)) => Some("not built".to_owned()),
        Some(State::Built) | None => None,
    }
}
