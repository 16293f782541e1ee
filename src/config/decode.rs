//! Decodes a single value of the configuration.

use crate::yaml::{Node, Reader};

pub(super) fn decode<T: serde::de::DeserializeOwned>(node: &Node) -> Option<T> {
    crate::yaml::decode(node, Reader::Core).ok().filter(|_| !node.is_null())
}
