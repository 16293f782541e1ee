//! The graph of kustomizations that include paths.

use std::collections::{BTreeMap, BTreeSet};

use super::installation::{COMPONENTS_FILE, SYNC_FILE};
use super::kustomizations::KustomizationFile;
use crate::text::{Span, Tree};

/// The directories that include each path.
pub(super) struct Includers {
    by_path: BTreeMap<String, Vec<String>>,
    /// Missing `gotk-sync.yaml` files, with the places of the kustomizations that list them.
    pub(super) absent: BTreeMap<String, Span>,
    /// The directories of kustomizations that list a missing `gotk-components.yaml`.
    pub(super) without_components: BTreeSet<String>,
}

impl Includers {
    pub(crate) fn new(tree: &Tree, kustomizations: &[KustomizationFile]) -> Self {
        let mut includers =
            Self { by_path: BTreeMap::new(), absent: BTreeMap::new(), without_components: BTreeSet::new() };
        for KustomizationFile { folder, file, references, .. } in kustomizations {
            for included in &references.included {
                if !tree.has_file(included) {
                    match included.rsplit('/').next() {
                        Some(SYNC_FILE) => {
                            includers.absent.insert(included.clone(), file.first_line());
                        }
                        Some(COMPONENTS_FILE) => {
                            includers.without_components.insert(folder.clone());
                        }
                        _ => {}
                    }
                }
                includers.by_path.entry(included.clone()).or_default().push(folder.clone());
            }
        }
        includers
    }

    /// The outermost directories whose builds include a file.
    pub(crate) fn tops(&self, path: &str) -> BTreeSet<String> {
        let mut tops = BTreeSet::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = vec![path];
        while let Some(at) = open.pop() {
            let above = self.by_path.get(at).map_or(&[][..], Vec::as_slice);
            if above.is_empty() && at != path {
                tops.insert(at.to_string());
            }
            open.extend(above.iter().map(String::as_str).filter(|folder| seen.insert(folder)));
        }
        tops
    }
}
