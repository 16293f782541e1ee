//! A Flux repository, understood: what its files are, what its kustomizations build to, who its tenants are.

mod asks;
mod build;
mod classify;
mod cluster;
mod completion;
mod deployments;
mod digest;
mod doubts;
mod engine;
pub mod envsubst;
pub mod field;
pub mod graph;
mod handling;
pub mod helm;
mod includers;
mod installation;
mod instance_chart;
mod kustomizations;
mod label;
mod lockdown;
mod lookups;
mod made;
mod marker;
mod metadata;
mod overlay;
mod place;
mod producer;
mod provenance;
mod receiver;
mod repo;
mod resourceset;
mod root;
pub mod select;
mod substitute;
mod sync;
mod sops;
pub mod source;
mod growing;
mod inventory;
mod job;
mod key;
mod objects;
mod outcome;
mod output;
mod received;
mod settings;
mod shared_place;
mod substitution;
mod unreached_path;
mod variables;
mod version;
mod tenancy;
pub mod trace;
mod undefined;
mod unmatched;
mod walk;

pub use build::MISSING_PATH;
pub use cluster::{Applied, Applier, ApplierKind, Brought, Cluster, State, Variable, VariableSource, Variables};
pub use completion::Completion;
pub use field::pointer;
pub use handling::Handling;
pub use installation::{CONTROLLERS, DEFAULT_CONTROLLERS, installs};
pub use lockdown::{Installation, Lockdown, Locks, locks_of_instance};
pub use marker::Marker;
pub use objects::Objects;
pub use outcome::Gap;
pub use producer::{Known, Produced, Producers};
pub use provenance::{Agent, Cause, Provenance, leaves};
pub use receiver::{Group, Receiver};
pub use repo::{Built, Repo, Skipped};
pub use resourceset::{Expansion, expand, is_input_provider, is_resource_set};
pub use settings::{Bounds, Settings};
pub use substitute::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE, reads, substitute};
pub use tenancy::{Governance, Tenancy, is_of_bootstrap};
pub use version::Strictness;

use crate::kube::Object;

/// Whether an object is of one of Flux's kinds, sources, deliveries and the operator's sets.
pub fn is_flux(object: &Object) -> bool {
    object.group().ends_with(".toolkit.fluxcd.io") || object.is("fluxcd.controlplane.io", "ResourceSet")
}

/// Flux's own Kustomization, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is("kustomize.toolkit.fluxcd.io", "Kustomization")
}

/// Whether an object is one of Flux's sources that Kustomizations build from.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == "source.toolkit.fluxcd.io" && kinds.contains(&object.kind())
}
