//! The files of a kustomization: manifests, kustomization files, and copies of remote repositories.

pub(super) mod manifests;
pub(super) mod remote;
pub(super) mod parse_all;
pub(super) mod files;
pub(super) mod comparison;
pub(super) mod sops;
pub(super) mod typed;
pub(super) mod kustomization_fields;
pub(super) mod definition;
pub(super) mod locate;
pub(super) mod plugin_fields;
pub(super) mod remote_base;
