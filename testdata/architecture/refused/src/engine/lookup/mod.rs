//! Its own code uses a child, and the child uses an item of this file.

mod index;

use index::Index;

/// The item that the child uses.
pub(crate) struct Key(u64);

/// The code that uses the child.
pub(crate) fn find(index: &Index) -> Key {
    index.find()
}
