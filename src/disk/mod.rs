//! Reads directories into trees and writes trees to directories. No other module accesses the file system.
//!
//! All access is confined to the directories that the caller passes. `root` resolves every path of a repository and
//! opens every file.

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

/// The directory of files before they are renamed to their targets. It is in the root, since a rename does not cross
/// file systems.
const STAGE: &str = ".fleetwright.tmp";
