//! Collections under construction.

use arcstr::ArcStr;

use crate::text::{Index, Span};
use crate::yaml::tree::node::{Entry, Node};
use crate::yaml::tree::origin::Name;

/// The maximum nesting depth of collections, aliases included, so that recursion over the nodes of a file is safe.
pub(super) const MAX_DEPTH: usize = 128;

/// The number of keys up to which a mapping is searched linearly; a longer mapping has an index.
const MAX_SEARCHED_KEYS: usize = 16;

/// A finished node with its size and height.
#[derive(Clone)]
pub(super) struct MeasuredNode {
    pub(super) node: Node,
    /// The number of nodes, including the node itself.
    pub(super) size: usize,
    /// The nesting depth of collections in the node; 0 for scalars.
    pub(super) height: usize,
}

/// A collection whose end has not been parsed yet.
pub(super) struct OpenCollection {
    pub(super) start: usize,
    /// The end of the last child. The parser's end of a block collection includes the text up to the next token.
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
    /// The values of `<<`.
    pub(super) merges: Vec<Node>,
    /// The position of the first `<<`.
    pub(super) merge_key: Option<Span>,
    /// Whether the mapping has a second `apiVersion`, as two objects without a separator.
    pub(super) repeats_object: bool,
    /// The index of each key in `entries`; empty for short mappings.
    pub(super) index: Index<Name, usize>,
    pub(super) key: Option<PendingKey>,
}

pub(super) enum PendingKey {
    Named(Name, Span),
    Merge(Span),
    /// A key that is not a scalar. Its value is parsed and dropped.
    Dropped,
}

impl OpenMapping {
    pub(super) fn find(&self, key: &Name) -> Option<&Entry> {
        if self.index.is_empty() {
            return self.entries.iter().find(|entry| ArcStr::ptr_eq(&entry.key, key) || entry.key == *key);
        }
        self.index.get(key).and_then(|at| self.entries.get(*at))
    }

    /// Replaces the entry with the same key.
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
