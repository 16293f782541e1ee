//! `kustomize build`, in memory, keeping positions.
//!
//! The real program is the judge: `testdata/oracles/kustomize` records what it answers to the inputs in
//! `testdata/kustomize`. What it can do and this engine cannot yet is counted in `not_done`, never silent.

mod rule_ids;
mod file;
mod schema;
mod text;
mod objects;
mod fieldspec;
mod patch;
mod state;
mod generate;
mod references;
mod transform;
mod build;

pub use build::builder::{Builder, build};
pub use build::output::Build;
pub use file::definition::{FILE_NAMES, References, file_in, references_of};
pub use file::files::{Files, Reading, is_yaml};
pub use file::kustomization_fields::{fields, rewritten};
pub use file::manifests::expand_list;
pub use file::plugin_fields::plugin_fields;
pub use file::remote::Copy;
pub use file::remote_base::RemoteBase;
pub use file::sops::decrypted;
pub use objects::patch_targets::PatchTarget;
pub use rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
pub use text::scope::is_cluster_scoped;
