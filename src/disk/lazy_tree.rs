//! A tree over a directory and the files that it references. Files are read on first access.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{DiskError, display};
use super::file::{read_bytes, read_file};
use super::journal;
use super::place;
use super::read::refuse_git;
use super::root::{Place, Root};
use crate::text::{File, LoadError, Loader, PathKind, Tree};

/// A directory and the tree that contains it.
#[derive(Debug)]
pub struct LazyTree {
    /// The tree. It contains all files that the directory may reference.
    pub tree: Tree,
    /// The path of the directory in the tree.
    pub folder: String,
}

/// Opens a directory. Files are read on first access, even if a .gitignore matches them.
///
/// A file of the directory may reference files above the directory, so the root of the tree is the root of the Git
/// repository. Without a repository, the root is the current directory if that contains `folder`, else `folder` itself.
/// Paths are displayed relative to the current directory, as `folder` was typed.
pub fn open_lazy(folder: &Path) -> Result<LazyTree, DiskError> {
    let base = directory(folder)?.path().to_owned();
    let root = Root::open(&place::bounds_of(&base))?;
    let folder_in_root = base.strip_prefix(root.path()).ok().and_then(place::slashed);
    let Some(path) = folder_in_root else {
        return Err(DiskError::refused("read", folder)(std::io::Error::other("its name is not valid UTF-8")));
    };
    let loader = LazyLoader { root, base, typed: folder.to_owned() };
    Ok(LazyTree { tree: Tree::with_loader(Arc::new(loader)), folder: path })
}

/// Opens a copy as a separate tree, without access to files outside of it.
pub fn open_copy(folder: &Path) -> Result<Tree, DiskError> {
    refuse_git(folder)?;
    let root = directory(folder)?;
    let base = root.path().to_owned();
    Ok(Tree::with_loader(Arc::new(LazyLoader { root, base, typed: folder.to_owned() })))
}

fn directory(folder: &Path) -> Result<Root, DiskError> {
    place::refuse_leaving_link(folder)?;
    if journal::metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(DiskError::NotADirectory(display(folder)));
    }
    Root::open(folder)
}

/// A loader that reads files on first access.
struct LazyLoader {
    /// The directory that confines all paths.
    root: Root,
    /// The canonical path of the requested directory.
    base: PathBuf,
    /// The requested directory as it was typed.
    typed: PathBuf,
}

impl LazyLoader {
    /// Returns the path of a file after resolution of all links.
    fn file(&self, path: &str) -> Result<PathBuf, LoadError> {
        match self.root.find(path) {
            Place::File(real) => Ok(real),
            _ => Err(LoadError::Missing),
        }
    }

    /// Returns a path as a user would type it in the current directory.
    fn display(&self, full: &Path) -> String {
        let common = self.base.components().zip(full.components()).take_while(|(a, b)| a == b).count();
        let mut typed: PathBuf = self.typed.components().filter(|part| *part != Component::CurDir).collect();
        for _ in self.base.components().skip(common) {
            match typed.components().next_back() {
                Some(Component::Normal(_)) => {
                    typed.pop();
                }
                _ => typed.push(".."),
            }
        }
        typed.extend(full.components().skip(common));
        if typed.as_os_str().is_empty() { ".".to_owned() } else { display(&typed) }
    }
}

impl Loader for LazyLoader {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        // Messages show the requested path, not the target of a link.
        read_file(&self.display_path(path), &self.root, &self.file(path)?)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        read_bytes(&self.root, &self.file(path)?)
    }

    fn path_kind(&self, path: &str) -> PathKind {
        match self.root.find(path) {
            Place::File(real) => place::slashed(&real).map_or(PathKind::Missing, PathKind::File),
            Place::Folder(real) => place::slashed(&real).map_or(PathKind::Missing, PathKind::Directory),
            _ => PathKind::Missing,
        }
    }

    fn display_path(&self, path: &str) -> String {
        self.display(&self.root.path().join(path))
    }

    fn names(&self, folder: &str) -> BTreeSet<String> {
        match self.root.find(folder) {
            Place::Folder(real) => self.root.names(&real).into_iter().collect(),
            _ => BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::fixture::folder;
    use super::*;

    #[test]
    fn the_repository_is_the_root_and_files_outside_of_it_are_invisible() {
        let outer = folder(&[
            ("secret.yaml", "a: 1"),
            ("git/.git/config", ""),
            ("git/base/a.yaml", "a: 1"),
            ("git/o/b.yaml", ""),
        ]);
        let opened = open_lazy(&outer.path().join("git/o")).unwrap();
        assert_eq!(opened.folder, "o");
        assert!(opened.tree.has_file("base/a.yaml") && opened.tree.has_folder("base"));
        assert!(!opened.tree.has_file("../secret.yaml") && !opened.tree.has_file(".git/config"));
        assert_eq!(opened.tree.names(""), ["base", "o"].map(str::to_owned).into());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path(), outer.path().join("git/out")).unwrap();
            std::os::unix::fs::symlink("base", outer.path().join("git/in")).unwrap();
            assert_eq!(opened.tree.path_kind("out/secret.yaml"), PathKind::Missing);
            assert_eq!(opened.tree.path_kind("in/a.yaml"), PathKind::File("base/a.yaml".to_owned()));
        }
    }

    #[test]
    fn paths_are_displayed_relative_to_the_typed_directory() {
        let outer = folder(&[("overlays/prod/a.yaml", ""), ("base/b.yaml", "")]);
        let base = fs::canonicalize(outer.path().join("overlays/prod")).unwrap();
        let root = fs::canonicalize(outer.path()).unwrap();
        let called = |typed: &str, path: &str| {
            let loader = LazyLoader { root: Root::open(&root).unwrap(), base: base.clone(), typed: typed.into() };
            loader.load(path).unwrap().path().to_owned()
        };
        assert_eq!(called("overlays/prod", "overlays/prod/a.yaml"), "overlays/prod/a.yaml");
        assert_eq!(called("./overlays/prod/", "base/b.yaml"), "base/b.yaml");
        assert_eq!(called(".", "overlays/prod/a.yaml"), "a.yaml");
        assert_eq!(called(".", "base/b.yaml"), "../../base/b.yaml");
        assert_eq!(called("prod", "base/b.yaml"), "../base/b.yaml");
    }
}
