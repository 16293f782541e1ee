//! The files of a kustomization: which exist, what they contain, and where copies of remote ones are.

pub(super) mod manifests;
pub(super) mod remote;
pub(super) mod files;
pub(super) mod sops;
pub(super) mod typed;
pub(super) mod kustomization_fields;
pub(super) mod definition;
pub(super) mod locate;
pub(super) mod plugin_fields;
pub(super) mod remote_base;
