//! Labels of objects and clusters, each on one line.

use crate::base::finding::ObjectRef;
use crate::flux::query::graph::Graph;
use crate::report::printable::printable;

/// An object in a line, fit for a terminal.
pub(super) fn name(reference: &ObjectRef) -> String {
    let name = match &reference.namespace {
        Some(namespace) => format!("{} {namespace}/{}", reference.kind, reference.name),
        None => format!("{} {}", reference.kind, reference.name),
    };
    one_line(&name)
}

pub(super) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// A cluster's name in a line; something for the one that has none.
pub(super) fn cluster(graph: &Graph) -> String {
    if graph.cluster.is_empty() { "this repository".to_owned() } else { one_line(&graph.cluster) }
}
