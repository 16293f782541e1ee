//! Kubernetes objects: kinds, identities, label selectors, paths, and nodes that no file contains.

pub(super) mod kinds;
pub(super) mod label_selector;
pub(super) mod object_id;
pub(super) mod source_path;
pub(super) mod synthetic_node;
pub(super) mod common_metadata;
