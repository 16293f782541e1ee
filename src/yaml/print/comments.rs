//! Comments that are printed with the nodes of a file.

use std::collections::BTreeMap;

/// The comments to print, by the position of a node in its file. Each comment is printed once.
#[derive(Debug, Clone, Default)]
pub struct Comments {
    /// The comments before a document, by the start of its root node.
    pub documents: BTreeMap<usize, Vec<String>>,
    /// The comments above an entry or an item, by the start of the key or the item.
    pub above: BTreeMap<usize, Vec<String>>,
    /// The comments at the end of the line of a scalar, by the start of the scalar.
    pub after: BTreeMap<usize, String>,
}

impl Comments {
    /// Returns whether no comments are left.
    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.above.is_empty() && self.after.is_empty()
    }
}
