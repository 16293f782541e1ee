//! Paths of keys and indices through a node tree.

use std::fmt;

use arcstr::ArcStr;

use super::node::{Node, Value};

/// One segment of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The key of a mapping.
    Name(ArcStr),
    /// The index of an item, from 0.
    Index(usize),
}

/// A path from the root of a document, displayed as `spec.patches[0].target`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(pub Vec<Key>);

impl Path {
    /// The node at this path.
    pub fn find<'a>(&self, root: &'a Node) -> Option<&'a Node> {
        self.0.iter().try_fold(root, |node, key| match (key, &node.value) {
            (Key::Name(name), Value::Map(_)) => node.get(name),
            (Key::Index(index), Value::Seq(items)) => items.get(*index),
            _ => None,
        })
    }

    /// Returns the path with one more segment.
    #[must_use]
    pub fn child(&self, key: Key) -> Self {
        let mut keys = self.0.clone();
        keys.push(key);
        Self(keys)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, key) in self.0.iter().enumerate() {
            match key {
                Key::Name(name) if depth == 0 => write!(f, "{name}")?,
                Key::Name(name) => write!(f, ".{name}")?,
                Key::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
