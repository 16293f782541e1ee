//! `kustomize build`, in memory, keeping positions.
//!
//! The real program is the judge: `testdata/oracles/kustomize` records what it answers to the inputs in
//! `testdata/kustomize`. What it can do and this engine cannot yet is counted in `not_done`, never silent.

mod annotations;
mod build;
mod configuration;
mod definition;
mod field_path;
mod field_spec;
mod files;
mod go_json;
mod images;
mod inline;
mod json_patch;
mod known_fields;
mod labels;
mod load;
mod merge;
mod merge_keys;
mod namespace;
mod order;
mod partial;
mod patches;
mod references;
mod replacements;
mod replicas;
mod resources;
mod retype;
mod scope;
mod selector;
mod structured;

pub use build::{Build, Builder, FAILED_BUILD, MISSING_RESOURCE, build};
pub use definition::{FILE_NAMES, file_in, knows_field, references_of};
pub use files::{Files, is_yaml};
pub use load::expand_list;
pub use scope::is_cluster_scoped;
