//! Reads directories into trees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::error::{DiskError, display, missing};
use super::file::{in_root, noted, read_file, read_place, read_up_to, unread};
use super::journal;
use super::place::{is_git, refuse_leaving_link};
use super::read_all::Reading;
use super::root::{Place, Refusal, Root};
use super::walk;
use super::walk::FoundFile;
use crate::text::{Entry, File, LoadError, Loader, Tree, folder_of};

/// Reads the YAML files of a directory. Other files are read on first access.
///
/// If the path is a file, the tree contains that file only, and its root is the directory of the file.
pub fn read(path: &Path) -> Result<Tree, DiskError> {
    read_in(path, None)
}

/// Reads a copy of another repository as [`read`] does. Each file stores the directory as it was typed.
pub fn read_copy(path: &Path) -> Result<Tree, DiskError> {
    refuse_git(path)?;
    let typed = display(path);
    read_in(path, Some(typed.into()))
}

fn read_in(path: &Path, called: Option<ArcStr>) -> Result<Tree, DiskError> {
    refuse_leaving_link(path)?;
    let metadata = journal::metadata(path).map_err(|error| missing(path, error))?;
    if metadata.is_file() {
        return read_alone(path, called.as_ref());
    }
    if !metadata.is_dir() {
        return Err(DiskError::Special(display(path)));
    }
    read_root(Root::open(path)?, called)
}

/// Reads an open directory.
pub(super) fn read_root(root: Root, called: Option<ArcStr>) -> Result<Tree, DiskError> {
    let mut files = walk::files(&root)?;
    // The files that are read must not depend on the order of a directory.
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    let links: Vec<String> =
        files.iter().filter(|(_, found)| matches!(found, FoundFile::Linked)).map(|(path, _)| path.clone()).collect();
    let entries = Reading::new(&root, called.as_ref()).read_all(files);
    let mut tree = Tree::with_loader(Arc::new(DirectoryLoader { root, called }));
    tree.insert_all(entries);
    for path in &links {
        tree.mark_link(path);
    }
    Ok(tree)
}

/// Lists the files of a directory. Every file is read on first access.
pub fn list(folder: &Path) -> Result<Tree, DiskError> {
    let root = Root::open(folder)?;
    let files = walk::files(&root)?;
    let mut tree = Tree::with_loader(Arc::new(DirectoryLoader { root, called: None }));
    tree.insert_all(files.into_iter().map(|(path, found)| (path.into(), unread(found))));
    Ok(tree)
}

/// Reads the files at `paths` below a directory, and the files and directories that obstruct them.
///
/// Returns an empty tree if the directory does not exist.
pub fn read_some<'a>(root: &Path, paths: impl IntoIterator<Item = &'a str>) -> Result<Tree, DiskError> {
    read_beside(root, paths, &Tree::default())
}

/// Reads files as [`read_some`] does. A file that equals the file in `expected` is that file, so that it needs no memory.
pub fn read_beside<'a>(
    root: &Path,
    paths: impl IntoIterator<Item = &'a str>,
    expected: &Tree,
) -> Result<Tree, DiskError> {
    let mut tree = Tree::default();
    let Ok(metadata) = journal::metadata(root) else { return Ok(tree) };
    if !metadata.is_dir() {
        return Err(DiskError::Blocked { path: display(root), obstacle: "a file", at: display(root) });
    }
    let root = Root::open(root)?;
    // The rendered files and the files in the lock are mostly the same.
    let paths: BTreeSet<&str> = paths.into_iter().collect();
    let read = |path: &str| match read_file(path, &root, Path::new(path)) {
        Ok(file) => {
            Some((path.to_owned(), Entry::Text(expected.file(path).ok().filter(|it| *it == file).unwrap_or(file))))
        }
        Err(LoadError::Decode(error)) => Some((path.to_owned(), Entry::Opaque(error.into()))),
        // The path is a link that may be followed, an obstacle, or missing.
        Err(_) => read_or_obstacle(&root, path),
    };
    let entries: Vec<Option<(String, Entry)>> = paths.into_par_iter().map(read).collect();
    for (path, entry) in entries.into_iter().flatten() {
        tree.insert_entry(&path, entry);
    }
    Ok(tree)
}

/// Rejects a copy in a `.git` directory.
pub(super) fn refuse_git(path: &Path) -> Result<(), DiskError> {
    let in_git = journal::canonicalize(path).is_ok_and(|path| path.iter().any(is_git));
    if in_git { Err(DiskError::Git(display(path))) } else { Ok(()) }
}

/// Reads a single file. If the path is a link, reads the target of the link.
fn read_alone(path: &Path, called: Option<&ArcStr>) -> Result<Tree, DiskError> {
    let target = journal::canonicalize(path).map_err(DiskError::refused("read", path))?;
    let (Some(folder), Some(file)) = (target.parent(), target.file_name()) else {
        return Err(DiskError::Special(display(path)));
    };
    let name = path.file_name().unwrap_or(file).to_string_lossy().into_owned();
    let mut tree = Tree::default();
    match read_file(&name, &Root::open(folder)?, Path::new(file)) {
        Ok(file) => tree.insert(in_root(file, called)),
        Err(LoadError::Unreadable(why)) => return Err(DiskError::refused("read", path)(std::io::Error::other(why))),
        Err(error) => tree.insert_entry(&name, Entry::Opaque(error)),
    }
    Ok(tree)
}

/// Returns the entry of a file. If the file does not exist, returns an obstacle: a file in the place of a parent
/// directory, or a file in a directory at the path.
fn read_or_obstacle(root: &Root, path: &str) -> Option<(String, Entry)> {
    if path.is_empty() {
        return None;
    }
    match root.find(path) {
        Place::File(_) | Place::Unreadable(_) | Place::Special => Some((path.to_owned(), read_place(root, path)?)),
        // A file behind a link that leads out of the root is not read.
        Place::Refused(Refusal::Link) if matches!(root.find(folder_of(path)), Place::Folder(_)) => {
            Some((path.to_owned(), Entry::Opaque(LoadError::Linked)))
        }
        Place::Folder(real) if real != Path::new(path) => Some((path.to_owned(), Entry::Opaque(LoadError::Linked))),
        Place::Folder(folder) => {
            let first = root.names(&folder).into_iter().min()?;
            Some((format!("{path}/{first}"), Entry::Deferred))
        }
        Place::Nothing => {
            let folders = std::iter::successors(Some(folder_of(path)), |folder| Some(folder_of(folder)));
            let mut folders = folders.take_while(|folder| !folder.is_empty());
            folders.find_map(|folder| match root.find(folder) {
                Place::File(_) => Some((folder.to_owned(), read_place(root, folder)?)),
                _ => None,
            })
        }
        Place::Refused(_) => None,
    }
}

/// A loader for the files of a directory that are read on first access.
struct DirectoryLoader {
    root: Root,
    /// The directory as it was typed, if it is a copy of another repository.
    called: Option<ArcStr>,
}

impl DirectoryLoader {
    /// Reads a file with `read`. Most paths contain no link, so they need no lookup: `read` refuses a link.
    fn read<T>(&self, path: &str, read: impl Fn(&Path) -> Result<T, LoadError>) -> Result<T, LoadError> {
        read(Path::new(path)).or_else(|_| noted(read(&self.find(path)?)))
    }

    fn bytes_at(&self, real: &Path) -> Result<Vec<u8>, LoadError> {
        read_up_to(File::MAX_LEN, &self.root, real)
    }

    fn find(&self, path: &str) -> Result<PathBuf, LoadError> {
        match self.root.find(path) {
            Place::File(real) => Ok(real),
            Place::Refused(_) => Err(LoadError::Linked),
            Place::Folder(real) if real != Path::new(path) => Err(LoadError::Linked),
            Place::Unreadable(why) => Err(LoadError::Unreadable(why)),
            Place::Folder(_) | Place::Special | Place::Nothing => Err(LoadError::Missing),
        }
    }
}

impl Loader for DirectoryLoader {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        let file = File::decode(path, self.bytes(path)?)?;
        Ok(in_root(file, self.called.as_ref()))
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.read(path, |real| self.bytes_at(real))
    }

    fn size(&self, path: &str) -> Option<u64> {
        let length = self.read(path, |real| Ok(self.root.file(real)?.1.len()));
        length.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::folder;
    use super::*;

    fn paths(tree: &Tree) -> Vec<&str> {
        tree.entries().map(|(path, _)| path).collect()
    }

    fn git(folder: &Path, args: &[&str]) {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(folder).args(args).env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE");
        assert!(git.output().unwrap().status.success(), "{args:?}");
    }

    #[test]
    fn yaml_is_read_and_other_files_are_deferred() {
        let folder = folder(&[("a.yaml", "a: 1"), ("b/Kustomization", "{}"), (".c.yml", ""), ("d.json", "{}")]);
        let tree = read(folder.path()).unwrap();
        assert_eq!(paths(&tree), [".c.yml", "a.yaml", "b/Kustomization", "d.json"]);
        assert!(matches!(tree.entry("d.json"), Some(Entry::Deferred)));
        assert_eq!(tree.file("d.json").unwrap().text(), "{}");
    }

    #[test]
    fn files_of_a_copy_remember_the_directory_as_typed() {
        let folder = folder(&[("a.yaml", "a: 1"), ("b.txt", "")]);
        let tree = read_copy(folder.path()).unwrap();
        for path in ["a.yaml", "b.txt"] {
            assert_eq!(tree.file(path).unwrap().root().map(|root| &**root), folder.path().to_str(), "{path}");
        }
        assert_eq!(read(folder.path()).unwrap().file("a.yaml").unwrap().root(), None);
    }

    #[test]
    fn ignored_files_and_git_are_excluded() {
        let ignore = ("x/.gitignore", "*.local.yaml\n");
        let folder = folder(&[ignore, ("x/a.local.yaml", ""), ("a.local.yaml", ""), (".git/a.yaml", "")]);
        git(folder.path(), &["init", "-q"]);
        assert_eq!(paths(&read(folder.path()).unwrap()), ["a.local.yaml", "x/.gitignore"]);
    }

    #[test]
    fn without_a_repository_ignored_files_are_included() {
        let folder = folder(&[(".gitignore", "*.yaml\n"), ("a.yaml", "")]);
        assert_eq!(paths(&read(folder.path()).unwrap()), [".gitignore", "a.yaml"]);
    }

    #[test]
    fn tracked_files_are_included_although_ignored() {
        let folder = folder(&[(".gitignore", "*.yaml\n"), ("tracked.yaml", "a: 1"), ("other.yaml", "")]);
        git(folder.path(), &["init", "-q"]);
        git(folder.path(), &["add", "-f", "tracked.yaml"]);
        assert_eq!(paths(&read(folder.path()).unwrap()), [".gitignore", "tracked.yaml"]);
    }

    #[test]
    fn a_single_file_is_a_tree() {
        let folder = folder(&[("a.txt", "a: 1"), ("b.yaml", "")]);
        assert_eq!(paths(&read(&folder.path().join("a.txt")).unwrap()), ["a.txt"]);
        assert!(matches!(read(&folder.path().join("c")), Err(DiskError::Missing(_))));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_to_files_inside() {
        let outside = folder(&[("secret.yaml", "a: 1")]);
        let folder = folder(&[("a/a.yaml", "a: 1")]);
        let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
        link(Path::new("a/a.yaml"), "in.yaml");
        link(&outside.path().join("secret.yaml"), "out.yaml");
        link(outside.path(), "folder");
        link(Path::new("a"), "same");
        link(Path::new("nowhere"), "dangling.yaml");
        let tree = read(folder.path()).unwrap();
        assert_eq!(tree.file("in.yaml").unwrap().text(), "a: 1");
        assert!(tree.is_link("in.yaml") && tree.is_link("folder") && !tree.is_link("a/a.yaml"));
        for path in ["out.yaml", "folder", "same", "dangling.yaml"] {
            assert_eq!(tree.file(path).unwrap_err(), LoadError::Linked, "{path}");
        }
        let blocked = read_some(folder.path(), ["a", "a/a.yaml/b.yaml"]).unwrap();
        assert!(blocked.has_folder("a") && blocked.file("a/a.yaml").is_ok());
        let some = read_some(folder.path(), ["out.yaml", "folder/secret.yaml", "a/a.yaml", "../x", "b"]).unwrap();
        assert_eq!(paths(&some), ["a/a.yaml", "out.yaml"]);
        assert_eq!(some.files().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_ignore_file_is_not_opened() {
        for path in [".gitignore", "x/.gitignore"] {
            let folder = folder(&[("a.yaml", ""), ("x/b.yaml", "")]);
            std::os::unix::fs::symlink("/dev/zero", folder.path().join(path)).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(path) && error.contains("is a link"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_does_not_block() {
        let folder = folder(&[("a.yaml", "")]);
        let pipe = folder.path().join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let tree = read(folder.path()).unwrap();
        assert!(matches!(tree.entry("pipe.yaml"), Some(Entry::Opaque(LoadError::Decode(_)))));
        assert!(matches!(read(&pipe), Err(DiskError::Special(_))));
    }
}
