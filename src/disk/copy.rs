//! Copies of other repositories that a configuration names: which of them may be read.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::missing;
use super::error::{DiskError, shown};
use super::place::repository_of;
use super::read::read_root;
use super::root::{Place, Refusal, Root};
use crate::text::{LoadError, Tree};

/// Where the paths of a configuration may lead that belongs to the repository itself.
#[derive(Debug)]
pub struct Copies {
    /// The repository.
    root: Root,
    /// The directory of the configuration, from there.
    within: PathBuf,
    /// The same as a user would type it.
    typed: PathBuf,
}

/// The directory of a copy, in the repository.
#[derive(Debug)]
pub struct NamedCopy {
    root: Root,
    typed: PathBuf,
}

/// Why the path of a copy is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyFault {
    /// It is refused.
    Refused(Refusal),
    /// No directory is there.
    Missing,
    /// It cannot be read, and why.
    Hidden(String),
}

/// Tells whether a file belongs to the repository of a directory that is judged, or to that directory.
///
/// A file that cannot be found does: nothing proves that its author is another one.
fn belongs_to(file: &Path, judged: &Path) -> bool {
    let (Ok(file), Ok(judged)) = (fs::canonicalize(file), fs::canonicalize(judged)) else { return true };
    file.starts_with(repository_of(&judged).unwrap_or(&judged))
}

impl Copies {
    /// The bounds of the configuration in directory `typed` for a judged directory; `None` if the file lies outside of
    /// the judged repository, where its author is not the author of what is judged.
    pub fn of(file: &Path, typed: &Path, judged: &Path) -> Result<Option<Self>, DiskError> {
        if !belongs_to(file, judged) {
            return Ok(None);
        }
        let folder = fs::canonicalize(typed).map_err(|error| missing(typed, error))?;
        let judged = fs::canonicalize(judged).map_err(|error| missing(judged, error))?;
        let root = Root::open(repository_of(&folder).unwrap_or(&judged))?;
        let within = folder.strip_prefix(root.path()).unwrap_or(Path::new("")).to_owned();
        Ok(Some(Self { root, within, typed: typed.to_owned() }))
    }

    /// The copy that the configuration names by a path.
    pub fn find(&self, path: &str) -> Result<NamedCopy, CopyFault> {
        match self.root.find_from(&self.within, path) {
            Place::Folder(real) => {
                let root = self.root.enter(&real).map_err(|error| match error {
                    LoadError::Unreadable(why) => CopyFault::Hidden(why),
                    _ => CopyFault::Refused(Refusal::Link),
                })?;
                Ok(NamedCopy { root, typed: self.typed.join(path) })
            }
            Place::Refused(refusal) => Err(CopyFault::Refused(refusal)),
            Place::Hidden(why) => Err(CopyFault::Hidden(why)),
            Place::File(_) | Place::Special | Place::Nothing => Err(CopyFault::Missing),
        }
    }
}

impl NamedCopy {
    /// The directory as a user would type it.
    pub fn typed(&self) -> &Path {
        &self.typed
    }

    /// The directory's canonical path.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Reads it as [`read_copy`](super::read_copy) does.
    pub fn read(self) -> Result<Tree, DiskError> {
        let typed = shown(&self.typed);
        read_root(self.root, Some(typed.into()))
    }
}
