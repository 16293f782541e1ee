//! The graph of the paths that kustomizations include.

use std::collections::{BTreeMap, BTreeSet};

use super::installation::COMPONENTS_FILE;
use super::kustomizations::KustomizationFile;
use crate::kube::groups::SYNC_FILE;
use crate::text::{Span, Tree, folder_of, is_inside};

/// The directories of the kustomizations that include each path.
pub(super) struct Includers {
    by_path: BTreeMap<String, Vec<String>>,
    /// The missing `gotk-sync.yaml` files, with the positions of the kustomizations that list them.
    pub(super) absent: BTreeMap<String, Span>,
    /// The directories of kustomizations that list a missing `gotk-components.yaml`.
    pub(super) without_components: BTreeSet<String>,
    /// The directories of kustomizations, and whether each kustomization is a Component.
    folders: BTreeMap<String, bool>,
    /// The other files that kustomizations read, such as patches.
    pub(super) named: BTreeSet<String>,
}

impl Includers {
    pub(crate) fn new(tree: &Tree, kustomizations: &[KustomizationFile]) -> Self {
        let mut includers = Self {
            by_path: BTreeMap::new(),
            absent: BTreeMap::new(),
            without_components: BTreeSet::new(),
            folders: BTreeMap::new(),
            named: BTreeSet::new(),
        };
        for KustomizationFile { folder, file, references, is_component, .. } in kustomizations {
            includers.folders.insert(folder.clone(), *is_component);
            includers.named.extend(references.named.iter().chain(&references.data).cloned());
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

    /// Returns whether a directory has a kustomization that Flux can build on its own, unlike a Component.
    pub(crate) fn is_buildable(&self, folder: &str) -> bool {
        self.folders.get(folder) == Some(&false)
    }

    /// The directories with kustomizations that Flux can build on their own, and that no other kustomization includes.
    pub(super) fn buildable_tops(&self) -> impl Iterator<Item = &str> {
        let tops =
            self.folders.iter().filter(|(folder, is_component)| !**is_component && !self.by_path.contains_key(*folder));
        tops.map(|(folder, _)| folder.as_str())
    }

    /// Returns whether the kustomization of a directory is a Component.
    pub(crate) fn is_component(&self, folder: &str) -> bool {
        self.folders.get(folder) == Some(&true)
    }

    /// Returns whether Flux reaches a path when it applies a directory. Either the directory's kustomization includes
    /// the path, or Flux generates a kustomization that lists all files and directories down to the next kustomization.
    pub(crate) fn reaches(&self, folder: &str, path: &str) -> bool {
        if folder == path {
            return true;
        }
        if !(folder.is_empty() || is_inside(path, folder)) {
            return self.folders.contains_key(folder) && self.includes(folder, path);
        }
        // The outermost kustomization between the directory and the path determines which paths belong to the build.
        let mut outermost = None;
        let mut above = folder_of(path);
        loop {
            if self.folders.contains_key(above) {
                outermost = Some(above);
            }
            if above == folder {
                break;
            }
            above = folder_of(above);
        }
        outermost.is_none_or(|outermost| self.includes(outermost, path))
    }

    /// Returns whether the build of a directory includes a path.
    fn includes(&self, folder: &str, path: &str) -> bool {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = vec![path];
        while let Some(at) = open.pop() {
            if at == folder {
                return true;
            }
            let above = self.by_path.get(at).map_or(&[][..], Vec::as_slice);
            open.extend(above.iter().map(String::as_str).filter(|folder| seen.insert(folder)));
        }
        false
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
