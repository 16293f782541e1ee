//! Which kustomizations include what.

use std::collections::{BTreeMap, BTreeSet};

use super::installation::{COMPONENTS_FILE, SYNC_FILE};
use super::kustomizations::KustomizationFile;
use crate::text::{Span, Tree};

/// The folders that include a path, by that path.
pub(super) struct Includers {
    by_path: BTreeMap<String, Vec<String>>,
    /// The `gotk-sync.yaml` that kustomizations name and that are not there, with the place that names them.
    pub(super) absent: BTreeMap<String, Span>,
    /// The folders of those that name a `gotk-components.yaml` which is not there.
    pub(super) without_components: BTreeSet<String>,
}

impl Includers {
    pub(crate) fn of(tree: &Tree, kustomizations: &[KustomizationFile]) -> Self {
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

    /// The outermost folders that a file is built into.
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
