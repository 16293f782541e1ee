//! Questions about paths, whose answers a run depends on.

use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::Path;

/// A question about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::disk) enum Question {
    /// The path after the resolution of all links.
    Canonical,
    /// The kind of the file at the path, and the target of a link.
    Kind,
    /// The kind of the file that the path leads to.
    FollowedKind,
}

impl Question {
    /// All questions. The position of a question is its number in a file.
    pub(in crate::disk) const ALL: [Self; 3] = [Self::Canonical, Self::Kind, Self::FollowedKind];

    /// Returns the present answer.
    pub(in crate::disk) fn ask(self, path: &Path) -> String {
        match self {
            Self::Canonical => canonical_answer(&fs::canonicalize(path)),
            Self::Kind => kind_answer(path, &fs::symlink_metadata(path)),
            Self::FollowedKind => kind_answer(path, &fs::metadata(path)),
        }
    }
}

/// The answer to [`Question::Canonical`].
pub(super) fn canonical_answer(found: &io::Result<std::path::PathBuf>) -> String {
    match found {
        Ok(path) => exact(path),
        Err(error) => refusal(error),
    }
}

/// The answer to [`Question::Kind`] and [`Question::FollowedKind`].
pub(super) fn kind_answer(path: &Path, found: &io::Result<Metadata>) -> String {
    match found {
        Ok(metadata) if metadata.is_symlink() => match fs::read_link(path) {
            Ok(target) => format!("link {}", exact(&target)),
            Err(error) => refusal(&error),
        },
        Ok(metadata) => kind_name(metadata.file_type()).to_owned(),
        Err(error) => refusal(error),
    }
}

/// The name of the kind of a file.
pub(in crate::disk) fn kind_name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "directory"
    } else if kind.is_file() {
        "file"
    } else if kind.is_symlink() {
        "link"
    } else {
        "special"
    }
}

/// A path as text. Different paths have different texts, even if a path is not valid UTF-8.
fn exact(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

fn refusal(error: &io::Error) -> String {
    format!("error {:?}", error.kind())
}
