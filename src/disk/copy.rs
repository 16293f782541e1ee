//! Local copies of other repositories that a configuration references, and the check that a copy may be read.

use std::path::{Path, PathBuf};

use super::error::missing;
use super::error::{DiskError, display};
use super::journal;
use super::place::repository_of;
use super::read::read_root;
use super::root::{Place, Refusal, Root};
use crate::text::{LoadError, Tree};

/// The bounds of the paths in a configuration that belongs to the repository itself.
#[derive(Debug)]
pub struct Copies {
    /// The repository.
    root: Root,
    /// The directory of the configuration, relative to `root`.
    within: PathBuf,
    /// The directory of the configuration as a user would type it.
    typed: PathBuf,
}

/// The directory of a copy inside the repository.
#[derive(Debug)]
pub struct NamedCopy {
    root: Root,
    typed: PathBuf,
}

/// The reason why the path of a copy is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyFault {
    /// The path is refused.
    Refused(Refusal),
    /// The path is not a directory.
    Missing,
    /// The path cannot be read, for this reason.
    Unreadable(String),
}

/// Returns whether a file belongs to the linted directory or to its repository.
///
/// Returns `true` for a missing file: nothing proves that the file has a different author.
fn belongs_to(file: &Path, linted: &Path) -> bool {
    let (Ok(file), Ok(linted)) = (journal::canonicalize(file), journal::canonicalize(linted)) else { return true };
    file.starts_with(repository_of(&linted).unwrap_or(&linted))
}

impl Copies {
    /// Returns the bounds of the configuration in directory `typed` for a linted directory.
    ///
    /// Returns `None` if the file is outside of the linted repository: its author is then not the author of the
    /// repository.
    pub fn for_config(file: &Path, typed: &Path, linted: &Path) -> Result<Option<Self>, DiskError> {
        if !belongs_to(file, linted) {
            return Ok(None);
        }
        let folder = journal::canonicalize(typed).map_err(|error| missing(typed, error))?;
        let linted = journal::canonicalize(linted).map_err(|error| missing(linted, error))?;
        let root = Root::open(repository_of(&folder).unwrap_or(&linted))?;
        let within = folder.strip_prefix(root.path()).unwrap_or(Path::new("")).to_owned();
        Ok(Some(Self { root, within, typed: typed.to_owned() }))
    }

    /// Returns the copy at a path that the configuration references.
    pub fn find(&self, path: &str) -> Result<NamedCopy, CopyFault> {
        match self.root.find_from(&self.within, path) {
            Place::Folder(real) => {
                let root = self.root.enter(&real).map_err(|error| match error {
                    LoadError::Unreadable(why) => CopyFault::Unreadable(why),
                    _ => CopyFault::Refused(Refusal::Link),
                })?;
                Ok(NamedCopy { root, typed: self.typed.join(path) })
            }
            Place::Refused(refusal) => Err(CopyFault::Refused(refusal)),
            Place::Unreadable(why) => Err(CopyFault::Unreadable(why)),
            Place::File(_) | Place::Special | Place::Nothing => Err(CopyFault::Missing),
        }
    }
}

impl NamedCopy {
    /// Returns the directory as a user would type it.
    pub fn typed(&self) -> &Path {
        &self.typed
    }

    /// Returns the canonical path of the directory.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Reads the copy as [`read_copy`](super::read_copy) does.
    pub fn read(self) -> Result<Tree, DiskError> {
        let typed = display(&self.typed);
        read_root(self.root, Some(typed.into()))
    }
}
