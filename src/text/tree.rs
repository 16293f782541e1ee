//! A directory of files in memory: the type that every stage of the pipeline takes and gives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use super::file::{DecodeError, File};

/// A directory of files: path → file. Paths use `/`, start at the root and never leave it.
///
/// Files that were not read yet are read through the tree's loader when they are asked for. Cheap to clone: a clone that
/// is changed becomes a tree of its own.
#[derive(Clone, Default)]
pub struct Tree {
    entries: Arc<BTreeMap<Arc<str>, Entry>>,
    links: Arc<BTreeSet<Arc<str>>>,
    loader: Option<Arc<dyn Load>>,
}

/// What a tree knows of a path.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A file that was read.
    Text(File),
    /// A file that is text of no known kind; it is read when asked for.
    Deferred,
    /// A file that was read and is no text, or that could not be read.
    Opaque(LoadError),
}

/// Why a file's text cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The tree has no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a link that nobody follows.
    #[error("it is a link out of the folder or to a folder; such links are not followed")]
    Linked,
    /// It is not text.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The operating system refused.
    #[error("{0}")]
    Unreadable(String),
}

/// Reads the files that a tree deferred; `disk` has the implementation.
pub trait Load: Send + Sync {
    /// The text of a file of the tree.
    fn load(&self, path: &str) -> Result<File, LoadError>;

    /// The bytes of a file of the tree, which may be no text.
    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.load(path).map(|file| file.text().as_bytes().to_vec())
    }

    /// What stands at a path that the tree has no entry for: nothing, unless files are only looked at when asked for.
    fn look(&self, _path: &str) -> Stands {
        Stands::Nothing
    }

    /// The names in a folder that the tree has no entry for.
    fn names(&self, _folder: &str) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// How a person would call a path here.
    fn called(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// What stands at a path, once links were followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// Nothing, or nothing that may be looked at.
    Nothing,
    /// A file, and its own path.
    File(String),
    /// A folder, and its own path.
    Folder(String),
}

impl Tree {
    /// A tree whose deferred files are read through `loader`.
    pub fn with_loader(loader: Arc<dyn Load>) -> Self {
        Self { loader: Some(loader), ..Self::default() }
    }

    /// What stands at a path, and the path that links lead to.
    pub fn look(&self, path: &str) -> Stands {
        if self.entries.contains_key(path) {
            return Stands::File(path.to_owned());
        }
        if path.is_empty() || self.under(path).next().is_some() {
            return Stands::Folder(path.to_owned());
        }
        self.loader.as_ref().map_or(Stands::Nothing, |loader| loader.look(path))
    }

    /// How a person would call a path here.
    pub fn called(&self, path: &str) -> String {
        self.loader.as_ref().map_or_else(|| path.to_owned(), |loader| loader.called(path))
    }

    /// This tree with another one at a path, which nothing of this one may have.
    #[must_use]
    pub fn with(&self, path: &str, other: Self) -> Self {
        let mounted = Mounted { loader: self.loader.clone(), path: path.to_owned(), other };
        Self { loader: Some(Arc::new(mounted)), ..self.clone() }
    }

    /// The names of the files and folders in a folder.
    pub fn names(&self, folder: &str) -> BTreeSet<String> {
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let known = self.under(folder).filter_map(|path| path.get(start..)?.split('/').next());
        let mut names: BTreeSet<String> = known.map(str::to_owned).collect();
        names.extend(self.loader.iter().flat_map(|loader| loader.names(folder)));
        names
    }

    /// Puts a file at its own path, over what stood there.
    pub fn insert(&mut self, file: File) {
        Arc::make_mut(&mut self.entries).insert(file.path().into(), Entry::Text(file));
    }

    /// Puts what is known of a path.
    pub fn insert_entry(&mut self, path: &str, entry: Entry) {
        Arc::make_mut(&mut self.entries).insert(path.into(), entry);
    }

    /// Notes that links lead to what stands at a path: the tree has it, and what packs the tree may leave it out.
    pub fn mark_link(&mut self, path: &str) {
        Arc::make_mut(&mut self.links).insert(path.into());
    }

    /// Tells whether a file is there only because links lead to it, followed or not.
    pub fn is_link(&self, path: &str) -> bool {
        self.links.contains(path) || matches!(self.entries.get(path), Some(Entry::Opaque(LoadError::Linked)))
    }

    /// Takes a path out.
    pub fn remove(&mut self, path: &str) {
        Arc::make_mut(&mut self.entries).remove(path);
    }

    /// The file at a path, read now if it was deferred.
    pub fn file(&self, path: &str) -> Result<File, LoadError> {
        match (self.entries.get(path), &self.loader) {
            (Some(Entry::Text(file)), _) => Ok(file.clone()),
            (Some(Entry::Opaque(error)), _) => Err(error.clone()),
            (Some(Entry::Deferred), Some(loader)) => loader.load(path),
            (None, Some(loader)) if matches!(loader.look(path), Stands::File(_)) => loader.load(path),
            (Some(Entry::Deferred) | None, _) => Err(LoadError::Missing),
        }
    }

    /// The bytes of the file at a path, which may be no text.
    pub fn bytes(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        match (self.file(path), &self.loader) {
            (Ok(file), _) => Ok(file.text().as_bytes().into()),
            (Err(LoadError::Decode(_)), Some(loader)) => loader.bytes(path).map(Arc::from),
            (Err(error), _) => Err(error),
        }
    }

    /// What is known of a path, without reading it.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Tells whether a file stands at a path.
    pub fn has_file(&self, path: &str) -> bool {
        matches!(self.look(path), Stands::File(_))
    }

    /// Tells whether a folder stands at a path; the root, the empty path, always does.
    pub fn has_folder(&self, path: &str) -> bool {
        matches!(self.look(path), Stands::Folder(_))
    }

    /// Every path with what is known of it, sorted by path.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (&**path, entry))
    }

    /// The files that were read, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.entries.values().filter_map(|entry| match entry {
            Entry::Text(file) => Some(file),
            Entry::Deferred | Entry::Opaque(_) => None,
        })
    }

    /// The paths below a folder, sorted; all paths for the root, the empty path.
    pub fn under(&self, folder: &str) -> impl Iterator<Item = &str> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let bounds = (Bound::Included(start.as_str()), Bound::Unbounded);
        let paths = self.entries.range::<str, _>(bounds).map(|(path, _)| &**path);
        paths.take_while(move |path| path.starts_with(&start))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A tree at a path of another one.
struct Mounted {
    /// What reads the other one's files.
    loader: Option<Arc<dyn Load>>,
    path: String,
    other: Tree,
}

impl Mounted {
    /// The path in the mounted tree.
    fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.path.as_str())?;
        if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
    }
}

impl Load for Mounted {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        match (self.inside(path), &self.loader) {
            (Some(inside), _) => self.other.file(inside),
            (None, Some(loader)) => loader.load(path),
            (None, None) => Err(LoadError::Missing),
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        match (self.inside(path), &self.loader) {
            (Some(inside), _) => self.other.bytes(inside).map(|bytes| bytes.to_vec()),
            (None, Some(loader)) => loader.bytes(path),
            (None, None) => Err(LoadError::Missing),
        }
    }

    fn look(&self, path: &str) -> Stands {
        let outside = |own: String| {
            if own.is_empty() { self.path.clone() } else { format!("{}/{own}", self.path) }
        };
        match (self.inside(path).map(|inside| self.other.look(inside)), &self.loader) {
            (Some(Stands::File(own)), _) => Stands::File(outside(own)),
            (Some(Stands::Folder(own)), _) => Stands::Folder(outside(own)),
            (None, Some(loader)) => loader.look(path),
            (Some(Stands::Nothing), _) | (None, None) => Stands::Nothing,
        }
    }

    fn names(&self, folder: &str) -> BTreeSet<String> {
        match (self.inside(folder), &self.loader) {
            (Some(inside), _) => self.other.names(inside),
            (None, Some(loader)) => loader.names(folder),
            (None, None) => BTreeSet::new(),
        }
    }

    fn called(&self, path: &str) -> String {
        match (self.inside(path), &self.loader) {
            (Some(inside), _) => self.other.called(inside),
            (None, Some(loader)) => loader.called(path),
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

/// The folder that a path lies in; the root is the empty path.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Resolves a path as written in a file of `folder` (`./x`, `../y`): `None` when it leads out of the root.
///
/// A leading `/` is read as the root's, as Flux does with `spec.path`.
pub fn join(folder: &str, path: &str) -> Option<String> {
    let folder = if path.starts_with('/') { "" } else { folder };
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

/// Resolves a path from the root; `None` when it leads out of it.
pub fn normalize(path: &str) -> Option<String> {
    join("", path)
}

/// Tells whether `path` is `folder` or lies below it; both normalized.
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
    fn under_lists_a_folder_and_not_its_neighbours() {
        let tree: Tree = ["a/x", "a/y/z", "a.b", "ab/x"].map(|path| File::new(path, "")).into_iter().collect();
        assert_eq!(tree.under("a").collect::<Vec<_>>(), ["a/x", "a/y/z"]);
        assert!(tree.has_folder("a/y") && !tree.has_folder("a/x"));
    }
}
