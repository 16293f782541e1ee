//! The files of a tree, each parsed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::text::{File, Tree};
use crate::yaml::{Parsed, parse};

/// A tree and what its YAML files say. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Files {
    tree: Tree,
    parsed: Arc<BTreeMap<Arc<str>, Arc<Parsed>>>,
}

impl Files {
    /// Parses, in parallel, every file of the tree that is named as YAML and that `wanted` accepts.
    pub fn read(tree: &Tree, wanted: impl Fn(&File) -> bool) -> Self {
        let files: Vec<&File> = tree.files().filter(|file| is_yaml(file.path()) && wanted(file)).collect();
        let parsed = files.par_iter().map(|file| (Arc::from(file.path()), Arc::new(parse(file))));
        let parsed: Vec<(Arc<str>, Arc<Parsed>)> = parsed.collect();
        Self { tree: tree.clone(), parsed: Arc::new(parsed.into_iter().collect()) }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What a file says. A file that was not read yet is read now: kustomize takes any name for a resource's.
    pub fn get(&self, path: &str) -> Option<Arc<Parsed>> {
        if let Some(parsed) = self.parsed.get(path) {
            return Some(parsed.clone());
        }
        self.tree.file(path).ok().map(|file| Arc::new(parse(&file)))
    }

    /// Every file that was parsed, sorted by path.
    pub fn parsed(&self) -> impl Iterator<Item = (&str, &Arc<Parsed>)> {
        self.parsed.iter().map(|(path, parsed)| (&**path, parsed))
    }
}

/// Tells whether a file's name says that it is YAML.
pub fn is_yaml(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "yaml" | "yml") || name == "Kustomization"
}
