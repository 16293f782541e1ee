//! Graphs of the objects of a cluster: creators, sources, dependencies and other references.

mod model;
mod draft;
mod around;

pub use around::{around, around_referenced};
pub use draft::of_cluster;
pub use model::{Edge, EdgeKind, Graph, GraphNode, Role};
