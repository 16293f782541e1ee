//! Why the file system did not do what was asked.

use std::io;
use std::path::Path;

/// Why a folder could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// Nothing stands there.
    #[error("there is no file or folder `{0}`")]
    Missing(String),
    /// It is a device, a pipe or a socket.
    #[error("`{0}` is neither a file nor a folder")]
    Special(String),
    /// It is a file, and a folder was asked for.
    #[error("`{0}` is no folder")]
    NoFolder(String),
    /// The operating system refused.
    #[error("cannot {action} `{path}`: {}", reason(source))]
    Refused {
        /// What was tried, as a verb.
        action: &'static str,
        /// With what.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A link on the way leads out of the root.
    #[error(
        "cannot write `{path}`: `{link}` is a symbolic link that leads out of the folder or into `.git`; remove it or render elsewhere"
    )]
    LeadsOut {
        /// The file to write.
        path: String,
        /// The link on its way.
        link: String,
    },
    /// A link of a repository, on the way of a path that a user typed, leads out of that repository.
    #[error(
        "cannot use `{path}`: `{link}` is a symbolic link that leads out of its repository; name what it leads to, if you \
         trust that"
    )]
    Strays {
        /// The path as it was typed.
        path: String,
        /// The link on its way.
        link: String,
    },
    /// A path leads into a `.git` directory.
    #[error("cannot read `{0}`: it lies among Git's own files")]
    Git(String),
    /// A file stands where a folder is needed, or the other way round.
    #[error("cannot write `{path}`: {obstacle} stands at `{at}`; move it away or render elsewhere")]
    Blocked {
        /// The file to write.
        path: String,
        /// What stands there: `a file` or `a folder`.
        obstacle: &'static str,
        /// Where.
        at: String,
    },
    /// A path that nobody may write to.
    #[error("cannot write `{0}`: it leads out of the folder or into Git's own files")]
    Forbidden(String),
}

impl DiskError {
    /// Says what the operating system refused to do with a path.
    pub(super) fn refused(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let path = shown(path);
        move |source| Self::Refused { action, path: path.clone(), source }
    }
}

/// A path for messages.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Why the operating system refused, in the words of a person where there are any.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::NotADirectory => "a file stands where a folder is needed".to_owned(),
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        _ => error.to_string(),
    }
}

pub(super) fn missing(path: &Path, error: std::io::Error) -> DiskError {
    match error.kind() {
        std::io::ErrorKind::NotFound => DiskError::Missing(shown(path)),
        _ => DiskError::refused("read", path)(error),
    }
}
