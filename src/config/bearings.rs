//! The base of the paths in a configuration that is outside of the linted directory.

use std::collections::BTreeMap;

use arcstr::ArcStr;

use crate::text::{File, join};

/// The mapping of linted paths to paths relative to the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bearings {
    /// The linted directory, relative to the configuration file; empty if it is the same directory.
    pub folder: String,
    /// The directories of source copies, relative to the configuration file, by the root of their files.
    pub copies: BTreeMap<ArcStr, String>,
}

impl Bearings {
    /// Returns the path of a file, relative to the configuration file.
    pub fn path_of(&self, file: &File) -> String {
        let Some(root) = file.root() else { return self.path(file.path()) };
        let folder = self.copies.get(root).map_or(&**root, String::as_str);
        format!("{}/{}", folder.trim_end_matches('/'), file.path())
    }

    /// Returns a path in the linted directory, relative to the configuration file.
    pub fn path(&self, path: &str) -> String {
        join(&self.folder, path).unwrap_or_else(|| path.to_owned())
    }
}
