//! The files of a tree, each parsed once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use arcstr::ArcStr;

use super::parse_all::parse_all;
use super::remote::{Copy, CopySet};
use crate::text::{Entry, File, Index, LoadError, Loader, Read, Tree};
use crate::yaml::{Embedded, Node, Parsed, parse};

/// A tree with its parsed YAML files. A clone is cheap.
#[derive(Debug, Clone, Default)]
pub struct Files {
    tree: Tree,
    parsed: Arc<BTreeMap<ArcStr, Arc<Parsed>>>,
    /// The files that were parsed on demand.
    parsed_on_demand: Arc<Mutex<BTreeMap<ArcStr, Arc<Parsed>>>>,
    /// The parsed texts of scalars, by the address of the text. The scalars are kept so that addresses stay unique.
    embedded: Arc<Mutex<EmbeddedDocuments>>,
    /// The copies of remote repositories.
    copies: Arc<[Copy]>,
    reading: Reading,
    /// Whether SOPS-encrypted files count as decrypted.
    pub(crate) decrypts: bool,
}

/// The parsed text of each scalar, with the scalar.
type EmbeddedDocuments = Index<usize, (Node, Arc<Parsed>)>;

/// The program that reads the files. It determines which files a kustomization may read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// Flux: files may be anywhere in the tree, Flux objects are not kustomizations, and files of `flux bootstrap` may
    /// be missing.
    #[default]
    Flux,
    /// `kustomize build`: files must be in the directory of the kustomization that references them.
    Kustomize,
    /// `kustomize build --load-restrictor LoadRestrictionsNone`: files may be anywhere in the tree.
    Unrestricted,
}

impl Files {
    /// Parses the YAML files of the tree that `is_included` accepts, in parallel.
    pub fn read(tree: &Tree, is_included: impl Fn(&File) -> bool) -> Self {
        Self::read_beside(tree, is_included, &Self::default())
    }

    /// Parses the YAML files of the tree that `is_included` accepts. Files that `other` contains unchanged share its
    /// documents.
    pub fn read_beside(tree: &Tree, is_included: impl Fn(&File) -> bool, other: &Self) -> Self {
        let texts = tree.entries().filter_map(|(path, entry)| match entry {
            Entry::Text(file) => Some((path, file)),
            Entry::Deferred | Entry::Opaque(_) => None,
        });
        let files: Vec<(&str, &File)> = texts.filter(|(path, file)| is_yaml(path) && is_included(file)).collect();
        let known = |path: &str, file: &File| other.parsed.get(path).filter(|known| known.file == *file).cloned();
        let parsed = parse_all(&files, known);
        let shared = |(path, file): &(&str, &File)| {
            let own = file.shared_path();
            if **own == **path { own.clone() } else { ArcStr::from(*path) }
        };
        let parsed = files.iter().map(shared).zip(parsed);
        Self { tree: tree.clone(), parsed: Arc::new(parsed.collect()), ..Self::default() }
    }

    /// Sets the program that reads the files.
    #[must_use]
    pub fn read_as(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// Adds copies of remote repositories, which kustomizations can reference by URL.
    #[must_use]
    pub fn with_copies(mut self, copies: &CopySet) -> Self {
        let copies = if self.copies.is_empty() { copies.clone() } else { copies.after(&self.copies) };
        self.tree = self.tree.with_all(&copies.trees);
        self.copies = copies.all;
        self
    }

    /// The files that were parsed on demand so far.
    pub fn parsed_on_demand(&self) -> Vec<File> {
        self.lock_parsed_on_demand().values().map(|parsed| parsed.file.clone()).collect()
    }

    /// The program that reads the files.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The copies of remote repositories.
    pub(crate) fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// Combines files of other trees at new paths. Each item is the new path, the source and the path in the source.
    ///
    /// Parsed documents are shared. Findings show the original paths.
    pub fn select<'a>(sources: impl IntoIterator<Item = (ArcStr, &'a Files, ArcStr)>) -> Self {
        let mut parsed = BTreeMap::new();
        let mut loader = OtherTrees::default();
        let mut entries = Vec::new();
        let mut links = Vec::new();
        for (path, files, source_path) in sources {
            let Some(entry) = files.tree.entry(&source_path) else { continue };
            if let Some(file) = files.parsed.get(&source_path) {
                parsed.insert(path.clone(), file.clone());
            }
            if files.tree.is_link(&source_path) {
                links.push(path.clone());
            }
            // A file that is not text still has bytes.
            if !matches!(entry, Entry::Text(_)) {
                loader.sources.insert(path.clone(), (files.tree.clone(), source_path));
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

    /// The files whose paths `is_kept` accepts.
    #[must_use]
    pub fn filtered(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        let left_out: BTreeSet<&str> =
            self.tree.entries().map(|(path, _)| path).filter(|path| !is_kept(path)).collect();
        let tree = self.tree.without(&left_out, Arc::new(WholeTree(self.tree.clone())));
        let mut parsed = self.parsed.clone();
        if !left_out.is_empty() {
            Arc::make_mut(&mut parsed).retain(|path, _| !left_out.contains(&**path));
        }
        Self { tree, parsed, ..Self::default() }
    }

    /// Inserts a parsed file at a path.
    pub fn insert(&mut self, path: &str, parsed: Arc<Parsed>) {
        self.tree.insert_entry(path, Entry::Text(parsed.file.clone()));
        self.parsed_on_demand = Arc::default();
        Arc::make_mut(&mut self.parsed).insert(path.into(), parsed);
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The parsed file at a path. Files that are not parsed yet are parsed now, because a resource may have any file
    /// name.
    pub fn get(&self, path: &str) -> Option<Arc<Parsed>> {
        Read::note_path(path);
        if let Some(parsed) = self.parsed.get(path) {
            return Some(parsed.clone());
        }
        if let Some(parsed) = self.lock_parsed_on_demand().get(path) {
            return Some(parsed.clone());
        }
        let parsed = Arc::new(parse(&self.tree.file(path).ok()?));
        self.lock_parsed_on_demand().insert(path.into(), parsed.clone());
        Some(parsed)
    }

    fn lock_parsed_on_demand(&self) -> std::sync::MutexGuard<'_, BTreeMap<ArcStr, Arc<Parsed>>> {
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        self.parsed_on_demand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses the text of a scalar, such as an inline patch. Objects with equal patches share the result.
    pub(crate) fn parse_embedded(&self, scalar: &Node) -> Arc<Parsed> {
        let key = scalar.text().unwrap_or_default().as_ptr().addr();
        let cache = || self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((same, parsed)) = cache().get(&key)
            && same.origin.is_same(&scalar.origin)
        {
            return parsed.clone();
        }
        let parsed = Arc::new(Embedded::inherited(scalar).parse());
        cache().insert(key, (scalar.clone(), parsed.clone()));
        parsed
    }

    /// The file at a path, if it was parsed ahead.
    pub fn parsed_ahead(&self, path: &str) -> Option<&Arc<Parsed>> {
        Read::note_path(path);
        self.parsed.get(path)
    }

    /// The files that were parsed ahead, sorted by path.
    pub fn parsed(&self) -> impl Iterator<Item = (&str, &Arc<Parsed>)> {
        Read::note_all();
        self.parsed.iter().map(|(path, parsed)| (&**path, parsed))
    }
}

/// A loader for the files of a larger tree, at the same paths.
struct WholeTree(Tree);

impl Loader for WholeTree {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        self.0.file(path)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.0.bytes(path).map(|bytes| bytes.to_vec())
    }
}

/// A loader for files of other trees.
#[derive(Default)]
struct OtherTrees {
    sources: BTreeMap<ArcStr, (Tree, ArcStr)>,
}

impl Loader for OtherTrees {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        let (tree, source_path) = self.sources.get(path).ok_or(LoadError::Missing)?;
        tree.file(source_path)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        let (tree, source_path) = self.sources.get(path).ok_or(LoadError::Missing)?;
        tree.bytes(source_path).map(|bytes| bytes.to_vec())
    }
}

/// The directory of the copy that contains a path; `None` for files of the tree itself.
pub(crate) fn copy_of(path: &str) -> Option<&str> {
    path.split('/').next().filter(|folder| folder.starts_with('\0'))
}

/// Returns whether a path is the path of a YAML file, by its extension or the name `Kustomization`.
pub fn is_yaml(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "yaml" | "yml") || name == "Kustomization"
}
