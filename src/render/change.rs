//! The change of a file.

use crate::text::File;

/// The existing and the rendered version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: String,
    /// The existing text; `None` if the file does not exist or is not text.
    pub old: Option<File>,
    /// The new text; `None` if the file is removed.
    pub new: Option<File>,
    /// A note for messages, for example that a conflicting file has the header of fleetwright.
    pub note: Option<&'static str>,
}
