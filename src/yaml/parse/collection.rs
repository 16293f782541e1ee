//! Collections that are still being read.

use std::sync::Arc;

use crate::text::{Index, Span};
use crate::yaml::tree::node::{Entry, Node};
use crate::yaml::tree::origin::Name;

/// The maximum nesting depth of collections, aliases included, so that recursion over the nodes of a file is safe.
pub(super) const MAX_DEPTH: usize = 128;

/// A mapping with fewer keys is searched; the keys of a longer one are indexed.
const MAX_SEARCHED_KEYS: usize = 16;

/// A finished node, with its measures.
#[derive(Clone)]
pub(super) struct MeasuredNode {
    pub(super) node: Node,
    /// How many nodes it has.
    pub(super) size: usize,
    /// How deep its collections nest; 0 for scalars.
    pub(super) height: usize,
}

/// A collection that is still open.
pub(super) struct OpenCollection {
    pub(super) start: usize,
    /// Where its last child ends: the end span of a block collection runs on into what follows.
    pub(super) end: usize,
    pub(super) flow: bool,
    pub(super) anchor: usize,
    pub(super) size: usize,
    pub(super) height: usize,
    pub(super) kind: CollectionKind,
}

pub(super) enum CollectionKind {
    Seq(Vec<Node>),
    Map(OpenMapping),
}

#[derive(Default)]
pub(super) struct OpenMapping {
    pub(super) entries: Vec<Entry>,
    /// The values of `<<`, and the place of the first.
    pub(super) merges: Vec<Node>,
    pub(super) merge_key: Option<Span>,
    /// Positions of keys in `entries`; only filled for long mappings.
    pub(super) index: Index<Name, usize>,
    pub(super) key: Option<PendingKey>,
}

pub(super) enum PendingKey {
    Named(Name, Span),
    Merge(Span),
    /// A key that is no scalar: its value is read and dropped.
    Dropped,
}

impl OpenMapping {
    pub(super) fn find(&self, key: &Name) -> Option<&Entry> {
        if self.index.is_empty() {
            return self.entries.iter().find(|entry| Arc::ptr_eq(&entry.key, key) || entry.key == *key);
        }
        self.index.get(key).and_then(|at| self.entries.get(*at))
    }

    /// Puts an entry in the place of the one with its key.
    pub(super) fn replace(&mut self, entry: Entry) {
        let at = match self.index.get(&entry.key) {
            Some(at) => Some(*at),
            None => self.entries.iter().position(|old| old.key == entry.key),
        };
        if let Some(old) = at.and_then(|at| self.entries.get_mut(at)) {
            *old = entry;
        }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.index.is_empty() && self.entries.len() == MAX_SEARCHED_KEYS {
            self.index = self.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
        }
        if !self.index.is_empty() {
            self.index.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
    }
}
