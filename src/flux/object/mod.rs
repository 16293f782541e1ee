//! Kubernetes objects: kinds, identities, paths, and nodes that no file contains.

pub(super) mod kinds;
pub(super) mod object_id;
pub(super) mod source_path;
pub(super) mod synthetic_node;
pub(super) mod common_metadata;
