//! A folder and what its files refer to → a tree that looks at nothing before it is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{DiskError, shown};
use super::place;
use super::read::{read_bytes, read_file, refuse_git};
use super::root::{Place, Root};
use crate::text::{File, Load, LoadError, Stands, Tree};

/// A folder in the tree around it.
#[derive(Debug)]
pub struct Opened {
    /// The tree: what the folder may refer to lies in it.
    pub tree: Tree,
    /// The folder's path in the tree.
    pub folder: String,
}

/// Opens a folder: nothing is read before it is asked for, whatever a .gitignore says of it.
///
/// Its files may refer to others above it, so the tree's root is the folder of the Git repository that it belongs to.
/// Without one it is the current folder, if the folder lies in it, or the folder itself. The files of the tree are called
/// as a person would who typed `folder` to name the folder.
pub fn open(folder: &Path) -> Result<Opened, DiskError> {
    let base = directory(folder)?.path().to_owned();
    let root = Root::open(&root_of(&base))?;
    let folder_in_root = base.strip_prefix(root.path()).ok().and_then(place::slashed);
    let Some(path) = folder_in_root else {
        return Err(DiskError::refused("read", folder)(std::io::Error::other("its name is no text")));
    };
    let loader = Open { root, base, typed: folder.to_owned() };
    Ok(Opened { tree: Tree::with_loader(Arc::new(loader)), folder: path })
}

/// Opens a copy as a tree of its own: nothing outside of it is seen.
pub fn open_alone(folder: &Path) -> Result<Tree, DiskError> {
    refuse_git(folder)?;
    let root = directory(folder)?;
    let base = root.path().to_owned();
    Ok(Tree::with_loader(Arc::new(Open { root, base, typed: folder.to_owned() })))
}

fn directory(folder: &Path) -> Result<Root, DiskError> {
    place::refuse_stray(folder)?;
    if fs::metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(DiskError::NoFolder(shown(folder)));
    }
    Root::open(folder)
}

fn root_of(base: &Path) -> PathBuf {
    let here = || fs::canonicalize(".").ok().filter(|here| here.parent().is_some() && base.starts_with(here));
    place::repository_of(base).map(Path::to_owned).or_else(here).unwrap_or_else(|| base.to_owned())
}

/// Looks at files when they are asked for.
struct Open {
    /// What nothing leads out of.
    root: Root,
    /// The folder that was named; canonical.
    base: PathBuf,
    /// The folder as it was typed.
    typed: PathBuf,
}

impl Open {
    /// The path of a file that no link is on.
    fn file(&self, path: &str) -> Result<PathBuf, LoadError> {
        match self.root.find(path) {
            Place::File(real) => Ok(real),
            _ => Err(LoadError::Missing),
        }
    }

    /// A path as a person would type it here.
    fn shown(&self, full: &Path) -> String {
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
        if typed.as_os_str().is_empty() { ".".to_owned() } else { shown(&typed) }
    }
}

impl Load for Open {
    fn load(&self, path: &str) -> Result<File, LoadError> {
        // The path that was asked for is shown, not the one that a link leads to.
        read_file(&self.called(path), &self.root, &self.file(path)?)
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        read_bytes(&self.root, &self.file(path)?)
    }

    fn look(&self, path: &str) -> Stands {
        match self.root.find(path) {
            Place::File(real) => place::slashed(&real).map_or(Stands::Nothing, Stands::File),
            Place::Folder(real) => place::slashed(&real).map_or(Stands::Nothing, Stands::Folder),
            _ => Stands::Nothing,
        }
    }

    fn called(&self, path: &str) -> String {
        self.shown(&self.root.path().join(path))
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
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_repository_is_the_root_and_files_outside_of_it_are_not_seen() {
        let outer = folder(&[
            ("secret.yaml", "a: 1"),
            ("git/.git/config", ""),
            ("git/base/a.yaml", "a: 1"),
            ("git/o/b.yaml", ""),
        ]);
        let opened = open(&outer.path().join("git/o")).unwrap();
        assert_eq!(opened.folder, "o");
        assert!(opened.tree.has_file("base/a.yaml") && opened.tree.has_folder("base"));
        assert!(!opened.tree.has_file("../secret.yaml") && !opened.tree.has_file(".git/config"));
        assert_eq!(opened.tree.names(""), ["base", "o"].map(str::to_owned).into());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path(), outer.path().join("git/out")).unwrap();
            std::os::unix::fs::symlink("base", outer.path().join("git/in")).unwrap();
            assert_eq!(opened.tree.look("out/secret.yaml"), Stands::Nothing);
            assert_eq!(opened.tree.look("in/a.yaml"), Stands::File("base/a.yaml".to_owned()));
        }
    }

    #[test]
    fn files_are_called_as_the_folder_was_typed() {
        let outer = folder(&[("overlays/prod/a.yaml", ""), ("base/b.yaml", "")]);
        let base = fs::canonicalize(outer.path().join("overlays/prod")).unwrap();
        let root = fs::canonicalize(outer.path()).unwrap();
        let called = |typed: &str, path: &str| {
            let open = Open { root: Root::open(&root).unwrap(), base: base.clone(), typed: typed.into() };
            open.load(path).unwrap().path().to_owned()
        };
        assert_eq!(called("overlays/prod", "overlays/prod/a.yaml"), "overlays/prod/a.yaml");
        assert_eq!(called("./overlays/prod/", "base/b.yaml"), "base/b.yaml");
        assert_eq!(called(".", "overlays/prod/a.yaml"), "a.yaml");
        assert_eq!(called(".", "base/b.yaml"), "../../base/b.yaml");
        assert_eq!(called("prod", "base/b.yaml"), "../base/b.yaml");
    }
}
