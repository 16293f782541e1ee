//! A change of one file.

use crate::text::File;

/// A file, as it is and as it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: String,
    /// Its text now; `None` when there is no such file, or when it is no text.
    pub old: Option<File>,
    /// Its text afterwards; `None` when it is removed.
    pub new: Option<File>,
    /// What is known beside that, for messages; for a file in the way that it carries our header, for example.
    pub note: Option<&'static str>,
}
