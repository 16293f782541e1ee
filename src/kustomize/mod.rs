//! `kustomize build` in memory, with the positions of all values.
//!
//! The reference is the real program: `testdata/oracles/kustomize` records its output for the inputs in
//! `testdata/kustomize`. Features that this engine does not support are counted in `not_done`.

mod omission;
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
pub(crate) use file::comparison::Comparison;
pub use file::definition::{FILE_NAMES, References, file_in, ignored_documents, references_of};
pub use file::files::{Files, Reading, is_yaml};
pub use file::kustomization_fields::{fields, rewrite};
pub use file::manifests::expand_list;
pub use file::plugin_fields::plugin_fields;
pub use file::remote::{Copy, CopySet};
pub use file::remote_base::{RemoteBase, UnreadBase};
pub use file::sops::decrypt_object;
pub use objects::patch_targets::{PatchTarget, TargetList};
pub use omission::{Omission, Omissions, omissions_by_name};
pub use patch::read::patch_faults;
pub use rule_ids::{FAILED_BUILD, MISSING_RESOURCE};
pub use state::totals::{Limits, Totals};
pub use text::scope::is_cluster_scoped;
