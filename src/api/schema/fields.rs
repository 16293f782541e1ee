//! The values of the fields of a schema.

use crate::yaml::{Node, Reader, Scalar};

pub(super) fn is_true(node: &Node) -> bool {
    node.resolve(Reader::Kubernetes) == Some(Scalar::Bool(true))
}

#[expect(clippy::cast_precision_loss, reason = "the API server stores limits as 64-bit floating-point numbers")]
pub(super) fn number(node: &Node) -> Option<f64> {
    match node.resolve(Reader::Kubernetes)? {
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        _ => None,
    }
}

pub(super) fn count(node: &Node) -> Option<u64> {
    match node.resolve(Reader::Kubernetes)? {
        Scalar::Int(value) => u64::try_from(value).ok(),
        _ => None,
    }
}

pub(super) fn texts(node: &Node) -> Box<[Box<str>]> {
    node.items().iter().filter_map(Node::text).map(Into::into).collect()
}
