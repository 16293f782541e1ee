//! The paths that the kustomizations of a repository reference, and the directories that Flux Kustomizations apply.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::flux::classify::objects;
use crate::flux::install::kustomizations::KustomizationFile;
use crate::flux::model::completion::WrittenKustomization;
use crate::kustomize::Files;
use crate::text::folder_of;
use crate::yaml::Parsed;

/// The paths that kustomizations reference.
#[derive(Default)]
pub(super) struct NamedPaths {
    /// The directories with a kustomization, and whether the kustomization is a Component.
    pub(super) folders: BTreeMap<String, bool>,
    /// The files and directories that kustomizations include.
    pub(super) included: BTreeSet<String>,
    /// The other files that kustomizations use, such as patches.
    pub(super) others: BTreeSet<String>,
    /// The files that generators copy as text, which may be templates of other programs.
    pub(super) data: BTreeSet<String>,
}

impl NamedPaths {
    pub(super) fn new(kustomizations: &[KustomizationFile]) -> Self {
        let mut named = Self::default();
        for KustomizationFile { folder, is_component, references, .. } in kustomizations {
            named.folders.insert(folder.clone(), *is_component);
            named.included.extend(references.included.iter().cloned());
            named.others.extend(references.named.iter().cloned());
            named.data.extend(references.data.iter().cloned());
        }
        named
    }

    /// Returns whether Flux applies a file without a kustomization file. Flux does not enter directories that have a
    /// kustomization file.
    pub(super) fn leaves_to_flux(&self, path: &str, applied: &BTreeSet<String>) -> bool {
        let mut folder = folder_of(path);
        loop {
            if self.folders.contains_key(folder) {
                return false;
            }
            if folder.is_empty() || applied.contains(folder) {
                return true;
            }
            folder = folder_of(folder);
        }
    }
}

/// The directories of the Flux Kustomizations as written. They are enough to find the files that Flux applies without a
/// kustomization file.
pub(super) fn applied_folders(files: &Files) -> BTreeSet<String> {
    let parsed: Vec<&Arc<Parsed>> = files.parsed().map(|(_, parsed)| parsed).collect();
    let folders = |parsed: &&Arc<Parsed>| {
        objects(parsed).filter_map(|object| WrittenKustomization::applied_folder(&object)).collect::<Vec<_>>()
    };
    parsed.par_iter().flat_map_iter(folders).collect()
}
