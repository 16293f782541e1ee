//! `kustomize build`, in memory, keeping positions.
//!
//! The real program is the judge: `testdata/oracles/kustomize` records what it answers to the inputs in
//! `testdata/kustomize`. What it can do and this engine cannot yet is counted in `not_done`, never silent.

mod build;
mod definition;
mod field_spec;
mod files;
mod inline;
mod json_patch;
mod labels;
mod load;
mod locate;
mod merge;
mod merge_keys;
mod namespace;
mod order;
mod partial;
mod patches;
mod references;
mod remote;
mod resources;
mod scope;
mod selector;

pub use build::{Build, Builder, FAILED_BUILD, MISSING_RESOURCE, build};
pub use definition::{FILE_NAMES, file_in, references_of};
pub use files::{Files, Reading, is_yaml};
pub use load::expand_list;
pub use remote::Copy;
pub use scope::is_cluster_scoped;
