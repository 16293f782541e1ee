//! The files of a tree, each parsed once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::remote::Copy;
use crate::text::{Entry, File, Index, Load, LoadError, Tree};
use crate::yaml::{Inside, Node, Parsed, parse};

/// A tree and what its YAML files say. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Files {
    tree: Tree,
    parsed: Arc<BTreeMap<Arc<str>, Arc<Parsed>>>,
    /// What was parsed when it was asked for.
    parsed_on_demand: Arc<Mutex<BTreeMap<Arc<str>, Arc<Parsed>>>>,
    /// What was parsed inside scalars, by the place in memory of their texts; the scalars are kept so that no other one
    /// gets it.
    embedded: Arc<Mutex<EmbeddedDocuments>>,
    /// The copies that were added, in the order of their places.
    copies: Arc<[Copy]>,
    reading: Reading,
    /// Whether what SOPS encrypted counts as decrypted.
    pub(crate) decrypts: bool,
}

/// What was parsed inside scalars, with the scalar.
type EmbeddedDocuments = Index<usize, (Node, Arc<Parsed>)>;

/// Who reads, which decides what may be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// Flux: files may lie anywhere in the tree, objects of Flux are no kustomizations, and what `flux bootstrap` writes
    /// may not be there yet.
    #[default]
    Flux,
    /// `kustomize build`: files lie in the folder of the kustomization that names them.
    Kustomize,
    /// `kustomize build --load-restrictor LoadRestrictionsNone`: files may lie anywhere in the tree.
    Unrestricted,
}

impl Files {
    /// Parses, in parallel, every file of the tree that is named as YAML and that `wanted` accepts.
    pub fn read(tree: &Tree, is_included: impl Fn(&File) -> bool) -> Self {
        let texts = tree.entries().filter_map(|(path, entry)| match entry {
            Entry::Text(file) => Some((path, file)),
            Entry::Deferred | Entry::Opaque(_) => None,
        });
        let files: Vec<(&str, &File)> = texts.filter(|(path, file)| is_yaml(path) && is_included(file)).collect();
        let parsed = files.par_iter().map(|(path, file)| (Arc::from(*path), Arc::new(parse(file))));
        let parsed: Vec<(Arc<str>, Arc<Parsed>)> = parsed.collect();
        Self { tree: tree.clone(), parsed: Arc::new(parsed.into_iter().collect()), ..Self::default() }
    }

    /// The same files, read by somebody.
    #[must_use]
    pub fn read_as(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The same files with copies of repositories that they may name by a URL.
    #[must_use]
    pub fn with_copies(mut self, copies: impl IntoIterator<Item = Copy>) -> Self {
        let mut all = self.copies.to_vec();
        for copy in copies {
            self.tree = self.tree.with(&place_of_copy(all.len()), copy.tree.clone());
            all.push(copy);
        }
        self.copies = all.into();
        self
    }

    /// Who reads.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The copies, each at its place.
    pub(crate) fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// Files of others under paths of their own: each is its path here, whose it is, and its path there.
    ///
    /// What was parsed is shared. The files keep the paths that they are shown with.
    pub fn select<'a>(places: impl IntoIterator<Item = (Arc<str>, &'a Files, Arc<str>)>) -> Self {
        let mut parsed = BTreeMap::new();
        let mut loader = OtherTrees::default();
        let mut entries = Vec::new();
        let mut links = Vec::new();
        for (path, files, source_path) in places {
            let Some(entry) = files.tree.entry(&source_path) else { continue };
            if let Some(cache) = files.parsed.get(&source_path) {
                parsed.insert(path.clone(), cache.clone());
            }
            if files.tree.is_link(&source_path) {
                links.push(path.clone());
            }
            // What is no text has bytes all the same.
            if !matches!(entry, Entry::Text(_)) {
                loader.places.insert(path.clone(), (files.tree.clone(), source_path));
            }
            entries.push((path, entry.clone()));
        }
        let mut tree = Tree::with_loader(Arc::new(loader));
        for (path, entry) in entries {
            tree.insert_entry(&path, entry);
        }
        for path in &links {
            tree.mark_link(path);
        }
        Self { tree, parsed: Arc::new(parsed), ..Self::default() }
    }

    /// Puts a file at a path, with what it says.
    pub fn insert(&mut self, path: &str, parsed: Arc<Parsed>) {
        self.tree.insert_entry(path, Entry::Text(parsed.file.clone()));
        self.parsed_on_demand = Arc::default();
        Arc::make_mut(&mut self.parsed).insert(path.into(), parsed);
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
        if let Some(parsed) = self.parsed_on_demand().get(path) {
            return Some(parsed.clone());
        }
        let parsed = Arc::new(parse(&self.tree.file(path).ok()?));
        self.parsed_on_demand().insert(path.into(), parsed.clone());
        Some(parsed)
    }

    fn parsed_on_demand(&self) -> std::sync::MutexGuard<'_, BTreeMap<Arc<str>, Arc<Parsed>>> {
        // Each is inserted in one step: a panic elsewhere leaves no half of one.
        self.parsed_on_demand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the text of a scalar says that an applier hands down: objects that were patched alike share their patches.
    pub(crate) fn parse_embedded(&self, scalar: &Node) -> Arc<Parsed> {
        let key = scalar.text().unwrap_or_default().as_ptr().addr();
        let cache = || self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((same, parsed)) = cache().get(&key)
            && same.origin.is_same(&scalar.origin)
        {
            return parsed.clone();
        }
        let parsed = Arc::new(Inside::handed_down(scalar).parse());
        cache().insert(key, (scalar.clone(), parsed.clone()));
        parsed
    }

    /// Every file that was parsed, sorted by path.
    pub fn parsed(&self) -> impl Iterator<Item = (&str, &Arc<Parsed>)> {
        self.parsed.iter().map(|(path, parsed)| (&**path, parsed))
    }
}

/// Reads the files of other trees.
#[derive(Default)]
struct OtherTrees {
    places: BTreeMap<Arc<str>, (Tree, Arc<str>)>,
}

impl Load for OtherTrees {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        let (tree, source_path) = self.places.get(path).ok_or(LoadError::Missing)?;
        tree.file(source_path)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let (tree, source_path) = self.places.get(path).ok_or(LoadError::Missing)?;
        tree.bytes(source_path).map(|bytes| bytes.to_vec())
    }
}

/// The folder in the tree where a copy is put: no file of a repository can have a NUL in its name.
pub(super) fn place_of_copy(index: usize) -> String {
    format!("\0{index}")
}

/// The place of the copy that a path lies in; `None` for the tree's own files.
pub(crate) fn copy_of(path: &str) -> Option<&str> {
    path.split('/').next().filter(|place| place.starts_with('\0'))
}

/// Tells whether a file's name says that it is YAML.
pub fn is_yaml(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "yaml" | "yml") || name == "Kustomization"
}
