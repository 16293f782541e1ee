//! Directories ↔ trees; the only door to the file system, and only inside the folders that it is given.
//!
//! `root` resolves every path that a repository names and opens every file; nothing else opens one to read it.

mod error;
mod git;
mod place;
mod nearest;
mod root;
mod turn;
mod walk;
mod read;
mod copy;
mod open;
mod write;

pub use copy::{Copies, CopyFault, NamedCopy};
pub use error::DiskError;
pub use nearest::{Nearest, nearest, way};
pub use open::{Opened, open, open_alone};
pub use place::{is_file, relative};
pub use read::{list, read, read_copy, read_some};
pub use root::Refusal;
pub use turn::{Turn, turn_to_read, turn_to_write};
pub use write::{Changes, Lock, clean, create, write};

/// Where files are made before they are renamed to their places; in the root, so that a rename can reach them.
const STAGE: &str = ".fleetwright.tmp";
