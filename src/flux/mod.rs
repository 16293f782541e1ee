//! A Flux repository, understood: what its files are, what its kustomizations build to, who its tenants are.

mod classify;
mod place;
mod resourceset;
pub mod source;
mod settings;
mod walk;
pub mod helm;
mod producer;
pub mod query;
mod install;
mod repo;
mod build;
mod engine;
mod model;
pub mod variables;

pub use build::kustomization::MISSING_PATH;
pub use engine::outcome::Gap;
pub use install::installation::{CONTROLLERS, DEFAULT_CONTROLLERS, installs};
pub use install::lockdown::{Installation, Lockdown, Locks, locks_of_instance};
pub use install::version::Strictness;
pub use model::apply_mode::Handling;
pub use model::cluster::{Applied, Applier, ApplierKind, Brought, Cluster, State, Variable, VariableSource, Variables};
pub use model::completion::Completion;
pub use model::objects::Objects;
pub use model::receiver::{Group, Receiver};
pub use producer::{Known, Produced, Producers};
pub use query::field::pointer;
pub use query::image_marker::Marker;
pub use query::provenance::{Agent, Cause, Provenance, leaves};
pub use query::tenancy::{Governance, Tenancy, is_of_bootstrap};
pub use repo::{Built, Repo, Skipped};
pub use resourceset::{Expansion, expand, is_input_provider, is_resource_set};
pub use settings::{Bounds, Settings};
pub use variables::substitute::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE, reads, substitute};

use crate::kube::Object;
use crate::kube::groups;

/// Whether an object is of one of Flux's kinds, sources, deliveries and the operator's sets.
pub fn is_flux(object: &Object) -> bool {
    groups::is_toolkit(object.group()) || object.is(groups::FLUX_OPERATOR, "ResourceSet")
}

/// Flux's own Kustomization, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is(groups::KUSTOMIZE, "Kustomization")
}

/// Whether an object is one of Flux's sources that Kustomizations build from.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == groups::SOURCE && kinds.contains(&object.kind())
}
