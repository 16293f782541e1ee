//! The build of one applier: from its spec to the objects that it applies.

pub(super) mod digest;
pub(super) mod sops;
pub(super) mod applier_spec;
pub(super) mod inventory;
pub(super) mod output;
pub(super) mod synthetic_node;
pub(super) mod common_metadata;
pub(super) mod overlay;
pub(super) mod kustomization;
pub(super) mod build_key;
pub(super) mod job;
