//! What paths are relative to, when the file that says them lies elsewhere than in the folder that is judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::{File, join};

/// How files are called from the folder of the file that speaks of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bearings {
    /// The folder that is judged, as it is called from there; empty when it is that folder.
    pub folder: String,
    /// Copies of other repositories: what their files are called by, and how the folder is called from there.
    pub copies: BTreeMap<Arc<str>, String>,
}

impl Bearings {
    /// The path of a file as it is written there.
    pub fn path_of(&self, file: &File) -> String {
        let Some(root) = file.root() else { return self.path(file.path()) };
        let folder = self.copies.get(root).map_or(&**root, String::as_str);
        format!("{}/{}", folder.trim_end_matches('/'), file.path())
    }

    /// A path of the folder that is judged as it is written there.
    pub fn path(&self, path: &str) -> String {
        join(&self.folder, path).unwrap_or_else(|| path.to_owned())
    }
}
