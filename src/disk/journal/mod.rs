//! The journal of a run: everything that the run learned from the file system.

mod stamp;
mod question;
mod record;

pub(super) use question::{Question, kind_name};
pub(super) use record::{
    Hash, Journal, canonicalize, content, doubt, finish, folder, hash_of, metadata, revision, start, symlink_metadata,
    tracked,
};
pub(super) use stamp::Stamp;
