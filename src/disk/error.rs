//! Errors of the file system.

use std::io;
use std::path::Path;

/// An error while a directory is read or written.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The path does not exist.
    #[error("no file or directory at `{0}`")]
    Missing(String),
    /// The path is a device, a pipe or a socket.
    #[error("`{0}` is neither a file nor a directory")]
    Special(String),
    /// The path is not a directory, but a directory is required.
    #[error("`{0}` is not a directory")]
    NotADirectory(String),
    /// The operating system refused an operation.
    #[error("cannot {action} `{path}`: {}", reason(source))]
    Refused {
        /// The operation, as a verb.
        action: &'static str,
        /// The path of the operation.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A symbolic link in the path of a file to write leads out of the root.
    #[error(
        "cannot write `{path}`: `{link}` is a symbolic link that leads out of the directory or into `.git`; \
        remove it or render to another directory"
    )]
    LinkLeavesRoot {
        /// The file to write.
        path: String,
        /// The link in the path.
        link: String,
    },
    /// A symbolic link of a repository, in a path that a user typed, leads out of that repository.
    #[error(
        "cannot use `{path}`: `{link}` is a symbolic link that leads out of its repository; if you trust its target, \
            pass the path of the target"
    )]
    LinkLeavesRepository {
        /// The path as it was typed.
        path: String,
        /// The link in the path.
        link: String,
    },
    /// A path leads into a `.git` directory.
    #[error("cannot read `{0}`: it is in a `.git` directory")]
    Git(String),
    /// Git cannot read a revision.
    #[error("cannot read revision `{revision}` of the repository at `{path}`: {reason}")]
    Revision {
        /// The revision as it was typed.
        revision: String,
        /// The directory.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A file is in the place of a directory, or a directory in the place of a file.
    #[error("cannot write `{path}`: `{at}` is {obstacle}; move it or render to another directory")]
    Blocked {
        /// The file to write.
        path: String,
        /// The kind of the obstacle: `a file` or `a directory`.
        obstacle: &'static str,
        /// The path of the obstacle.
        at: String,
    },
    /// The path leads out of the root or into a `.git` directory.
    #[error("cannot write `{0}`: it leads out of the directory or into `.git`")]
    Forbidden(String),
}

impl DiskError {
    /// Returns a function that converts the I/O error of an operation on a path.
    pub(super) fn refused(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let path = display(path);
        move |source| Self::Refused { action, path: path.clone(), source }
    }
}

/// Formats a path for messages.
pub(super) fn display(path: &Path) -> String {
    path.display().to_string()
}

/// Describes an I/O error, in plain words if its kind is common.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::NotADirectory => "a file is in the place of a directory".to_owned(),
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => error.to_string(),
    }
}

pub(super) fn missing(path: &Path, error: std::io::Error) -> DiskError {
    match error.kind() {
        std::io::ErrorKind::NotFound => DiskError::Missing(display(path)),
        _ => DiskError::refused("read", path)(error),
    }
}
