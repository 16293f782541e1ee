//! A directory of files in memory: the input and output of every stage of the pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use arcstr::ArcStr;

use super::file::{DecodeError, File};
use super::reads::Read;

/// A directory of files by path. Paths use `/`, start at the root and never leave the root.
///
/// The tree reads a deferred file through its loader on each access. A clone is cheap, and a changed clone is an
/// independent tree.
#[derive(Clone, Default)]
pub struct Tree {
    entries: Arc<BTreeMap<ArcStr, Entry>>,
    links: Arc<BTreeSet<ArcStr>>,
    loader: Option<Arc<dyn Loader>>,
}

/// The content of a path in a tree.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A file with its text.
    Text(File),
    /// A file that the tree reads on each access, and that may not be text.
    Deferred,
    /// A file that is not text or that the loader could not read.
    Opaque(LoadError),
}

/// The reason why the text of a file is not available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The tree does not contain the file.
    #[error("the file does not exist")]
    Missing,
    /// The file is a link that the loader does not follow.
    #[error("it is a link to a directory or out of the root directory; such links are not followed")]
    Linked,
    /// The file is not text.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The operating system returned an error.
    #[error("{0}")]
    Unreadable(String),
}

/// Reads the deferred files of a tree; `disk` implements it.
pub trait Loader: Send + Sync {
    /// The text of a file of the tree.
    fn load(&self, path: &str) -> Result<File, LoadError>;

    /// The bytes of a file of the tree, which may not be text.
    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.load(path).map(|file| file.text().as_bytes().to_vec())
    }

    /// The size of a file of the tree in bytes; `None` if only reading the file tells its size.
    fn size(&self, _path: &str) -> Option<u64> {
        None
    }

    /// The kind of a path without an entry in the tree: missing, unless the loader discovers files on access.
    fn path_kind(&self, _path: &str) -> PathKind {
        PathKind::Missing
    }

    /// The names of the files and directories in a directory, including paths without an entry in the tree.
    fn names(&self, _folder: &str) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The path to show to users.
    fn display_path(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// The kind of a path, with its path after the resolution of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathKind {
    /// The path does not exist, or the tree must not read it.
    Missing,
    /// The path is a file. The value is its path after the resolution of links.
    File(String),
    /// The path is a directory. The value is its path after the resolution of links.
    Directory(String),
}

impl Tree {
    /// Creates a tree that reads deferred files through `loader`.
    pub fn with_loader(loader: Arc<dyn Loader>) -> Self {
        Self { loader: Some(loader), ..Self::default() }
    }

    /// The kind of a path, with its path after the resolution of links.
    pub fn path_kind(&self, path: &str) -> PathKind {
        Read::note_path(path);
        if self.entries.contains_key(path) {
            return PathKind::File(path.to_owned());
        }
        if path.is_empty() || self.below(path).next().is_some() {
            return PathKind::Directory(path.to_owned());
        }
        self.loader.as_ref().map_or(PathKind::Missing, |loader| loader.path_kind(path))
    }

    /// The path to show to users.
    pub fn display_path(&self, path: &str) -> String {
        self.loader.as_ref().map_or_else(|| path.to_owned(), |loader| loader.display_path(path))
    }

    /// Mounts other trees in directories of the root that this tree does not contain. Many trees may share the mounted trees.
    #[must_use]
    pub fn with_all(&self, trees: &Arc<BTreeMap<String, Self>>) -> Self {
        let mounted = Mounted { loader: self.loader.clone(), trees: trees.clone() };
        Self { loader: Some(Arc::new(mounted)), ..self.clone() }
    }

    /// The names of the files and directories in a directory.
    pub fn names(&self, folder: &str) -> BTreeSet<String> {
        self.names_up_to(folder, usize::MAX).unwrap_or_default()
    }

    /// The names of the files and directories in a directory; `None` if there are more than `most`.
    ///
    /// The time does not depend on the number of further names.
    pub fn names_up_to(&self, folder: &str, most: usize) -> Option<BTreeSet<String>> {
        Read::note_folder(folder);
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        if self.names_below(&start).take(most.saturating_add(1)).count() > most {
            return None;
        }
        let mut names: BTreeSet<String> = self.names_below(&start).map(str::to_owned).collect();
        names.extend(self.loader.iter().flat_map(|loader| loader.names(folder)));
        (names.len() <= most).then_some(names)
    }

    /// The first segments of the entries below a directory. `start` is the directory with a slash, or empty.
    fn names_below<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        let from = |path: &str| self.entries.range::<str, _>((Bound::Included(path), Bound::Unbounded));
        let mut entries = from(start);
        std::iter::from_fn(move || {
            let rest = entries.next()?.0.strip_prefix(start)?;
            let Some((name, _)) = rest.split_once('/') else { return Some(rest) };
            // The paths below a directory are neighbors, and `0` is the character after `/`.
            entries = from(&format!("{start}{name}0"));
            Some(name)
        })
    }

    /// Inserts a file at its path and replaces an existing entry.
    pub fn insert(&mut self, file: File) {
        Arc::make_mut(&mut self.entries).insert(file.path().into(), Entry::Text(file));
    }

    /// Inserts the entry of a path.
    pub fn insert_entry(&mut self, path: &str, entry: Entry) {
        Arc::make_mut(&mut self.entries).insert(path.into(), entry);
    }

    /// Inserts the entries of many paths.
    pub fn insert_all(&mut self, entries: impl IntoIterator<Item = (ArcStr, Entry)>) {
        if self.entries.is_empty() {
            self.entries = Arc::new(entries.into_iter().collect());
        } else {
            Arc::make_mut(&mut self.entries).extend(entries);
        }
    }

    /// The tree without some paths. It reads deferred files through `loader`.
    #[must_use]
    pub fn without(&self, left_out: &BTreeSet<&str>, loader: Arc<dyn Loader>) -> Self {
        let Self { mut entries, mut links, .. } = self.clone();
        if !left_out.is_empty() {
            Arc::make_mut(&mut entries).retain(|path, _| !left_out.contains(&**path));
            Arc::make_mut(&mut links).retain(|path| !left_out.contains(&**path));
        }
        Self { entries, links, loader: Some(loader) }
    }

    /// Marks a path that is reached through links. The tree contains the path, but an archive of the tree may omit it.
    pub fn mark_link(&mut self, path: &str) {
        Arc::make_mut(&mut self.links).insert(path.into());
    }

    /// Returns whether a file exists only through a link, which the loader may not follow.
    pub fn is_link(&self, path: &str) -> bool {
        Read::note_path(path);
        self.links.contains(path) || matches!(self.entries.get(path), Some(Entry::Opaque(LoadError::Linked)))
    }

    /// The paths that exist only through links, sorted.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        Read::note_all();
        self.links.iter().map(|path| &**path)
    }

    /// Removes a path.
    pub fn remove(&mut self, path: &str) {
        Arc::make_mut(&mut self.entries).remove(path);
    }

    /// Returns the file at a path, and reads a deferred file.
    pub fn file(&self, path: &str) -> Result<File, LoadError> {
        Read::note_path(path);
        match (self.entries.get(path), &self.loader) {
            (Some(Entry::Text(file)), _) => Ok(file.clone()),
            (Some(Entry::Opaque(error)), _) => Err(error.clone()),
            (Some(Entry::Deferred), Some(loader)) => loader.load(path),
            (None, Some(loader)) if matches!(loader.path_kind(path), PathKind::File(_)) => loader.load(path),
            (Some(Entry::Deferred) | None, _) => Err(LoadError::Missing),
        }
    }

    /// Returns whether the file at a path has more bytes than a limit, if its size is known without reading the file.
    pub fn is_longer_than(&self, path: &str, limit: usize) -> bool {
        Read::note_path(path);
        let size = match (self.entries.get(path), &self.loader) {
            (Some(Entry::Deferred), Some(loader)) => loader.size(path),
            (Some(Entry::Text(file)), _) => u64::try_from(file.text().len()).ok(),
            _ => None,
        };
        size.zip(u64::try_from(limit).ok()).is_some_and(|(size, limit)| size > limit)
    }

    /// The bytes of the file at a path, which may not be text.
    pub fn bytes(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        match (self.file(path), &self.loader) {
            (Ok(file), _) => Ok(file.text().as_bytes().into()),
            (Err(LoadError::Decode(_)), Some(loader)) => loader.bytes(path).map(Arc::from),
            (Err(error), _) => Err(error),
        }
    }

    /// The entry of a path. A deferred file is not read.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        Read::note_path(path);
        self.entries.get(path)
    }

    /// Returns whether a path is a file.
    pub fn has_file(&self, path: &str) -> bool {
        matches!(self.path_kind(path), PathKind::File(_))
    }

    /// Returns whether a path is a directory. The empty path is the root, which is always a directory.
    pub fn has_folder(&self, path: &str) -> bool {
        matches!(self.path_kind(path), PathKind::Directory(_))
    }

    /// All entries, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        Read::note_all();
        self.entries.iter().map(|(path, entry)| (&**path, entry))
    }

    /// The paths of the files that the operating system or a limit does not let the tree read, with the reasons.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries().filter_map(|(path, entry)| match entry {
            Entry::Opaque(LoadError::Unreadable(why)) => Some((path, why.as_str())),
            Entry::Opaque(_) | Entry::Text(_) | Entry::Deferred => None,
        })
    }

    /// The files with text, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        Read::note_all();
        self.entries.values().filter_map(|entry| match entry {
            Entry::Text(file) => Some(file),
            Entry::Deferred | Entry::Opaque(_) => None,
        })
    }

    /// The sorted paths below a directory. The empty path is the root, which contains all paths.
    pub fn under(&self, folder: &str) -> impl Iterator<Item = &str> {
        Read::note_folder(folder);
        self.below(folder)
    }

    fn below(&self, folder: &str) -> impl Iterator<Item = &str> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let bounds = (Bound::Included(start.as_str()), Bound::Unbounded);
        let paths = self.entries.range::<str, _>(bounds).map(|(path, _)| &**path);
        paths.take_while(move |path| path.starts_with(&start))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        Read::note_all();
        self.entries.len()
    }

    /// Returns whether the tree has no entries.
    pub fn is_empty(&self) -> bool {
        Read::note_all();
        self.entries.is_empty()
    }
}

/// The loader of a tree with other trees mounted in directories of its root.
struct Mounted {
    /// The loader of the outer tree.
    loader: Option<Arc<dyn Loader>>,
    trees: Arc<BTreeMap<String, Tree>>,
}

impl Mounted {
    /// The mounted tree that contains a path, with the name of its directory and the path in it; `None` if no mounted tree
    /// contains the path.
    fn inner<'a>(&self, path: &'a str) -> Option<(&'a str, &Tree, &'a str)> {
        let (name, inside) = path.split_once('/').unwrap_or((path, ""));
        Some((name, self.trees.get(name)?, inside))
    }
}

impl Loader for Mounted {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        match (self.inner(path), &self.loader) {
            (Some((_, tree, inside)), _) => tree.file(inside),
            (None, Some(loader)) => loader.load(path),
            (None, None) => Err(LoadError::Missing),
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        match (self.inner(path), &self.loader) {
            (Some((_, tree, inside)), _) => tree.bytes(inside).map(|bytes| bytes.to_vec()),
            (None, Some(loader)) => loader.bytes(path),
            (None, None) => Err(LoadError::Missing),
        }
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.loader.as_ref().filter(|_| self.inner(path).is_none())?.size(path)
    }

    fn path_kind(&self, path: &str) -> PathKind {
        let Some((name, tree, inside)) = self.inner(path) else {
            return self.loader.as_ref().map_or(PathKind::Missing, |loader| loader.path_kind(path));
        };
        let outside = |own: String| if own.is_empty() { name.to_owned() } else { format!("{name}/{own}") };
        match tree.path_kind(inside) {
            PathKind::File(own) => PathKind::File(outside(own)),
            PathKind::Directory(own) => PathKind::Directory(outside(own)),
            PathKind::Missing => PathKind::Missing,
        }
    }

    fn names(&self, folder: &str) -> BTreeSet<String> {
        match (self.inner(folder), &self.loader) {
            (Some((_, tree, inside)), _) => tree.names(inside),
            (None, Some(loader)) => loader.names(folder),
            (None, None) => BTreeSet::new(),
        }
    }

    fn display_path(&self, path: &str) -> String {
        match (self.inner(path), &self.loader) {
            (Some((_, tree, inside)), _) => tree.display_path(inside),
            (None, Some(loader)) => loader.display_path(path),
            (None, None) => path.to_owned(),
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.keys()).finish()
    }
}

impl FromIterator<File> for Tree {
    fn from_iter<I: IntoIterator<Item = File>>(files: I) -> Self {
        let mut tree = Self::default();
        files.into_iter().for_each(|file| tree.insert(file));
        tree
    }
}

/// The parent directory of a path. The empty path is the root.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Resolves a path in a file of `folder`, such as `./x` or `../y`; `None` if the path leaves the root.
///
/// A leading `/` is the root of the tree, as in Flux's `spec.path`.
pub fn join(folder: &str, path: &str) -> Option<String> {
    let folder = if path.starts_with('/') { "" } else { folder };
    // Most paths are normalized.
    if is_plain(path) && (folder.is_empty() || is_plain(folder)) {
        return Some(if folder.is_empty() { path.to_owned() } else { [folder, "/", path].concat() });
    }
    let mut joined = String::with_capacity(folder.len() + path.len() + 1);
    for segment in folder.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." if joined.is_empty() => return None,
            ".." => joined.truncate(joined.rfind('/').unwrap_or(0)),
            other => {
                joined.push_str(if joined.is_empty() { "" } else { "/" });
                joined.push_str(other);
            }
        }
    }
    Some(joined)
}

/// Returns whether each segment of a path is a name that does not start with `.`.
fn is_plain(path: &str) -> bool {
    let mut before = b'/';
    for byte in path.bytes() {
        if before == b'/' && matches!(byte, b'/' | b'.') {
            return false;
        }
        before = byte;
    }
    before != b'/'
}

/// Resolves a path from the root; `None` if the path leaves the root.
pub fn normalize(path: &str) -> Option<String> {
    join("", path)
}

/// Returns whether `path` is `folder` or is below `folder`. Both paths must be normalized.
pub fn is_inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_and_never_leave_the_root() {
        assert_eq!(join("a/b", "../c/./d").as_deref(), Some("a/c/d"));
        assert_eq!(join("a", "../.."), None);
        assert_eq!(join("a/b", "/c").as_deref(), Some("c"));
        assert!(is_inside("a/b", "a") && is_inside("a", "a") && !is_inside("ab", "a"));
    }

    #[test]
    fn under_lists_a_directory_and_not_its_siblings() {
        let tree: Tree = ["a/x", "a/y/z", "a.b", "ab/x"].map(|path| File::new(path, "")).into_iter().collect();
        assert_eq!(tree.under("a").collect::<Vec<_>>(), ["a/x", "a/y/z"]);
        assert!(tree.has_folder("a/y") && !tree.has_folder("a/x"));
    }

    #[test]
    fn the_names_of_a_large_directory_are_not_listed() {
        let tree: Tree = ["a/b/c", "a/b/d", "a/b.yaml", "a/b0", "ab"].iter().map(|path| File::new(*path, "")).collect();
        let names = || BTreeSet::from(["b", "b.yaml", "b0"].map(str::to_owned));
        assert_eq!(tree.names("a"), names());
        assert_eq!(tree.names_up_to("a", 3), Some(names()));
        assert_eq!(tree.names_up_to("a", 2), None);
        assert_eq!(tree.names_up_to("", 2).map(|names| names.len()), Some(2));
    }
}
