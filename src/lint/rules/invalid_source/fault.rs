//! A value that Flux rejects.

use crate::yaml::Node;

/// The field that Flux rejects, with the reason and the remedy.
pub(super) struct Fault<'a> {
    pub(super) node: &'a Node,
    pub(super) message: String,
    pub(super) help: String,
}
