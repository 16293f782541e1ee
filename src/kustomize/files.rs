//! The files of a tree, each parsed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::text::{Entry, File, Load, LoadError, Tree};
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
        let texts = tree.entries().filter_map(|(path, entry)| match entry {
            Entry::Text(file) => Some((path, file)),
            Entry::Deferred | Entry::Opaque(_) => None,
        });
        let files: Vec<(&str, &File)> = texts.filter(|(path, file)| is_yaml(path) && wanted(file)).collect();
        let parsed = files.par_iter().map(|(path, file)| (Arc::from(*path), Arc::new(parse(file))));
        let parsed: Vec<(Arc<str>, Arc<Parsed>)> = parsed.collect();
        Self { tree: tree.clone(), parsed: Arc::new(parsed.into_iter().collect()) }
    }

    /// Files of others under paths of their own: each is its path here, whose it is, and its path there.
    ///
    /// What was parsed is shared. The files keep the paths that they are shown with.
    pub fn select<'a>(places: impl IntoIterator<Item = (Arc<str>, &'a Files, Arc<str>)>) -> Self {
        let mut parsed = BTreeMap::new();
        let mut loader = Elsewhere::default();
        let mut entries = Vec::new();
        let mut links = Vec::new();
        for (path, files, there) in places {
            let Some(entry) = files.tree.entry(&there) else { continue };
            if let Some(known) = files.parsed.get(&there) {
                parsed.insert(path.clone(), known.clone());
            }
            if files.tree.is_link(&there) {
                links.push(path.clone());
            }
            if matches!(entry, Entry::Deferred) {
                loader.places.insert(path.clone(), (files.tree.clone(), there));
            }
            entries.push((path, entry.clone()));
        }
        let mut tree = Tree::with_loader(Arc::new(loader));
        for (path, entry) in entries {
            tree.insert_entry(&path, entry);
        }
        links.iter().for_each(|path| tree.mark_link(path));
        Self { tree, parsed: Arc::new(parsed) }
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

/// Reads the files of other trees.
#[derive(Default)]
struct Elsewhere {
    places: BTreeMap<Arc<str>, (Tree, Arc<str>)>,
}

impl Load for Elsewhere {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        let (tree, there) = self.places.get(path).ok_or(LoadError::Missing)?;
        tree.file(there)
    }
}

/// Tells whether a file's name says that it is YAML.
pub fn is_yaml(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "yaml" | "yml") || name == "Kustomization"
}
