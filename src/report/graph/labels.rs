//! One-line labels of objects and clusters.

use crate::base::finding::ObjectRef;
use crate::flux::query::graph::Graph;
use crate::report::printable::printable;

/// Returns the kind, namespace and name of an object, escaped for terminals.
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

/// Returns the name of a cluster, or a placeholder if it is empty.
pub(super) fn cluster(graph: &Graph) -> String {
    if graph.cluster.is_empty() { "this repository".to_owned() } else { one_line(&graph.cluster) }
}
