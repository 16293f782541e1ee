//! Builds of appliers: from the directory of a Kustomization to the objects that Flux applies.

pub(super) mod chart_namespace;
pub(super) mod digest;
pub(super) mod build_key;
pub(super) mod manifest_walk;
pub(super) mod overlay;
pub(super) mod sops;
pub(super) mod applier_spec;
pub(super) mod shared_specs;
pub(super) mod inventory;
pub(super) mod output;
pub(super) mod context;
pub(super) mod kustomization;
pub(super) mod job;
