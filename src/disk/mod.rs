//! Reads directories into trees and writes trees to directories. No other module accesses the file system.
//!
//! All access is confined to the directories that the caller passes. `root` resolves every path of a repository and
//! opens every file.

mod error;
mod journal;
#[cfg(test)]
mod fixture;
mod git;
mod lock;
mod place;
mod nearest;
mod root;
mod walk;
mod file;
mod read_all;
mod read;
mod copy;
mod lazy_tree;
mod write;
mod revision;
mod worker;
mod evidence;
mod evidence_file;
mod cache;

pub use cache::{CacheDirectory, CacheFault};
pub use copy::{Copies, CopyFault, NamedCopy};
pub use error::DiskError;
pub use evidence::{Comparison, Evidence, observe, observed};
pub use evidence_file::{ByteReader, ByteWriter};
pub use git::remotes;
pub use lazy_tree::{LazyTree, open_copy, open_lazy};
pub use lock::{DirectoryLock, lock_exclusive, lock_shared};
pub use nearest::{Nearest, nearest, path_between};
pub use place::{exists, is_file, len, relative, working_directory};
pub use read::{list, read, read_beside, read_copy, read_some};
pub use revision::{ListedRevision, Revision};
pub use root::Refusal;
pub use worker::{Worker, WorkerEnd, end_with_parent, exit_above, exit_after, limit_resources};
pub use write::{Changes, LockFile, append, clean, create, replace, rewrite, write, write_files};

/// The directory in which files are written before they are renamed to their targets. It is in the root, since a rename
/// cannot cross file systems.
const STAGE: &str = ".fleetwright.tmp";
