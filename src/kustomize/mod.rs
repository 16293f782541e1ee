//! `kustomize build`, in memory, keeping positions.
//!
//! The real program is the judge: `testdata/oracles/kustomize` records what it answers to the inputs in
//! `testdata/kustomize`. What it can do and this engine cannot yet is counted in `not_done`, never silent.

mod annotations;
mod build;
mod configuration;
mod configure;
mod crds;
mod definition;
mod field_comment;
mod field_path;
mod field_spec;
mod fields;
mod files;
mod finish;
mod generators;
mod go_json;
mod growth;
mod hash;
mod iam_policy;
mod images;
mod json_patch;
mod key_values;
mod known_fields;
mod labels;
mod laid;
mod load;
mod locate;
mod merge;
mod merge_keys;
mod merge_lists;
mod name_references;
mod names;
mod namespace;
mod order;
mod partial;
mod patches;
mod plugin_fields;
mod plugins;
mod read;
mod remote;
mod replacements;
mod replicas;
mod reprint;
mod resources;
mod retype;
mod scope;
mod selector;
mod sops;
mod structured;
mod trace;
mod transform;
mod typed;
mod user_schema;
mod value_add;
mod variables;

pub use build::{Build, Builder, FAILED_BUILD, MISSING_RESOURCE, build};
pub use definition::{FILE_NAMES, file_in, references_of};
pub use fields::{fields, rewritten};
pub use files::{Files, Reading, is_yaml};
pub use laid::Laid;
pub use plugin_fields::plugin_fields;
pub use read::expand_list;
pub use remote::Copy;
pub use scope::is_cluster_scoped;
pub use sops::decrypted;
