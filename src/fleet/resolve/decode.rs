//! Decodes merged nodes.

use serde::de::DeserializeOwned;

use crate::base::finding::Finding;
use crate::fleet::rule_ids::INVALID_FLEET;
use crate::yaml::{Node, Reader};

/// Decodes a node; a value that cannot be decoded is a finding.
pub(super) fn decode<T: DeserializeOwned>(node: &Node, findings: &mut Vec<Finding>) -> Option<T> {
    match crate::yaml::decode(node, Reader::Core) {
        Ok(value) => Some(value),
        Err(error) => {
            findings.push(Finding::error(INVALID_FLEET, error.span, error.message));
            None
        }
    }
}
