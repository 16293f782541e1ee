//! Kubernetes objects: kinds, paths, and nodes that no file contains.

pub(super) mod kinds;
pub(super) mod kustomization_path;
pub(super) mod synthetic_node;
pub(super) mod common_metadata;
