//! The model of a Flux repository: its files, the objects that Flux builds from them, and the clusters that receive
//! these objects.

mod classify;
mod object;
mod model;
mod producer;
mod resourceset;
pub mod source;
mod settings;
mod install;
mod unknown;
pub mod variables;
mod build;
mod cluster;
mod engine;
pub mod helm;
pub mod query;
mod repo;
mod definitions;

pub use build::kustomization::MISSING_PATH;
pub use build::sops::SOPS_MISCONFIGURED;
pub use cluster::applied_set::{Applied, AppliedSet};
pub use cluster::applier::Applier;
pub use cluster::apply_mode::ApplyMode;
pub use cluster::desired_state::Cluster;
pub use cluster::receiver::{Group, Receiver};
pub use cluster::shape::{Shape, Shapes};
pub use definitions::{catalog_of, definitions_elsewhere};
pub use engine::outcome::Gap;
pub use install::installation::{CONTROLLERS, DEFAULT_CONTROLLERS, installs};
pub use install::kustomizations::PatchDocument;
pub use install::lockdown::{
    CROSS_NAMESPACE, DEFAULT_ACCOUNT, Installation, Locks, REMOTE_BASES, locks_of_instance, reverting_places,
};
pub use install::manifests::components;
pub use install::roots::evidence::RootEvidence;
pub use install::version::{FluxVersion, Strictness};
pub use model::applier_fields::ApplierFields;
pub use model::applier_kind::{ApplierKind, State};
pub use model::built_object::Built;
pub use model::completion::Completion;
pub use model::not_built::NotBuiltReason;
pub use model::objects::Objects;
pub use model::variables::{Variable, VariableSource, Variables};
pub use object::kinds::{is_flux, is_kustomization, is_source};
pub use producer::fetched::{CreatedObject, created_by};
pub use producer::produced::{ObjectLookup, Produced};
pub use producer::{CONVERT_FROM, COPY_FROM, Producers};
pub use query::field::pointer;
pub use query::image_marker::Marker;
pub use query::lockdown::Lockdown;
pub use query::operator::OperatorAccount;
pub use query::other_programs::{ClusterPrograms, OtherPrograms};
pub use query::provenance::{Agent, Cause, Provenance, leaves};
pub use query::tenancy::{Governance, Tenancy, is_of_bootstrap};
pub use repo::absent_files::may_exist_later;
pub use repo::repository::Repo;
pub use repo::skipped::Skipped;
pub use resourceset::{Expansion, expand, is_input_provider, is_resource_set};
pub use settings::{Bounds, FleetVersions, Settings};
pub use unknown::fleet_identity::FleetIdentity;
pub use unknown::known_contents::groups_of_chart;
pub use unknown::mention::has_word;
pub use unknown::publisher::{public_owner, repository_owner};
pub use unknown::unknown_producer::{Creates, UnknownProducer};
pub use variables::substitute::rule_ids::{SHELL_VARIABLE_SUBSTITUTED, UNDEFINED_VARIABLE};
pub use variables::substitute::{reads, substitute};
