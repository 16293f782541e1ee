//! The node tree: values with their origins.
//!
//! Nodes are shared, not copied: a collection is one `List`, so a patch keeps every subtree that it does not change. A
//! node is 32 bytes and keeps its origin when kustomize or Flux moves it.

use std::sync::Arc;

use arcstr::ArcStr;

use super::list::List;
use super::origin::{ChangedBy, Name, Origin, ValueChange};
use crate::text::{File, Span};

/// A value and its origin.
#[derive(Debug, Clone)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The position of the value in a file, and the changes since.
    pub origin: Origin,
}

/// A YAML value. Scalars keep their text and style; a [`Reader`](crate::yaml::Reader) resolves their type.
#[derive(Debug, Clone)]
pub enum Value {
    /// The text of a scalar after unescaping and folding, and its style.
    Scalar(ArcStr, Style),
    /// The items of a sequence.
    Seq(List<Node>),
    /// The entries of a mapping in file order, with unique keys.
    Map(List<Entry>),
}

/// The style of a scalar. Only a plain scalar can have a type other than string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `text`
    Plain,
    /// `'text'`
    Single,
    /// `"text"`
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// An unknown value, such as the value of a Secret. It satisfies every schema.
    Unknown,
}

/// An entry of a mapping: the key, its position and the value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The text of the key.
    pub key: Name,
    /// The offset and length of the key in its file; see [`Entry::key_span`].
    key_span: (u32, u32),
    /// The value.
    pub node: Node,
}

/// The maximum number of entries of a mapping in which each key is searched.
const FEW_ENTRIES: usize = 32;

impl Node {
    /// Creates a node that a file sets at `span`.
    pub fn at(value: Value, span: Span) -> Self {
        Self { value, origin: Origin::At(span) }
    }

    /// Creates a scalar that a file sets at `span`.
    pub fn scalar(text: impl Into<ArcStr>, style: Style, span: Span) -> Self {
        Self::at(Value::Scalar(text.into(), style), span)
    }

    /// The node in another file with the same text.
    pub(in crate::yaml) fn of_copy(&self, file: &File) -> Self {
        let value = match &self.value {
            Value::Scalar(text, style) => Value::Scalar(text.clone(), *style),
            Value::Seq(items) => Value::Seq(List::of(items.iter().map(|item| item.of_copy(file)))),
            Value::Map(entries) => {
                let of_copy = |entry: &Entry| entry.with_node(entry.node.of_copy(file));
                Value::Map(List::of(entries.iter().map(of_copy)))
            }
        };
        Self::at(value, self.span().of_copy(file))
    }

    /// The position to report for this node: the last position in a file that determined its value.
    pub fn span(&self) -> &Span {
        self.origin.span()
    }

    /// The value of a key; `None` if this is not a mapping or has no such key.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key.
    #[inline]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    /// The value at a path of keys, for example `["metadata", "name"]`.
    #[inline]
    pub fn at_keys(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a mapping; none for other nodes.
    #[inline]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Scalar(..) | Value::Seq(_) => &[],
        }
    }

    /// The items of a sequence; none for other nodes.
    #[inline]
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Seq(items) => items,
            Value::Scalar(..) | Value::Map(_) => &[],
        }
    }

    /// The text of a scalar as written, regardless of its type.
    #[inline]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, _) => Some(text),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// The shared text of a scalar.
    pub fn shared_text(&self) -> Option<ArcStr> {
        match &self.value {
            Value::Scalar(text, _) => Some(text.clone()),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Returns whether this is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Returns whether the file writes this collection with brackets. kustomize keeps the brackets for changed content.
    pub fn has_brackets(&self) -> bool {
        !matches!(self.value, Value::Scalar(..)) && self.origin.written().text().starts_with(['{', '['])
    }

    /// Returns whether this is a sequence.
    pub fn is_seq(&self) -> bool {
        matches!(self.value, Value::Seq(_))
    }

    /// Returns whether every YAML reader resolves this node to null: empty, `~` or `null` in plain style.
    #[inline]
    pub fn is_null(&self) -> bool {
        let Value::Scalar(text, Style::Plain) = &self.value else { return false };
        matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
    }

    /// A changed value, whose origin continues the origin of this node.
    #[must_use]
    pub fn changed(&self, value: Value, by: ChangedBy) -> Self {
        let step = ValueChange::new(by, Some(self.origin.clone()), Box::default());
        Self { value, origin: Origin::Via(Arc::new(step)) }
    }

    /// The value of a patch that replaces this value. A variable in the patch's value is applied after the patch.
    #[must_use]
    pub fn replaced_by(&self, new: &Node) -> Self {
        Self { value: new.value.clone(), origin: self.origin.replaced_by(&new.origin) }
    }

    /// Returns the mapping with a key set: in place if the key exists, at the end otherwise.
    ///
    /// Returns any other node unchanged.
    #[must_use]
    pub fn with(&self, entry: Entry) -> Self {
        let Value::Map(entries) = &self.value else { return self.clone() };
        let mut entries = entries.to_vec();
        match entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => entries.push(entry),
        }
        Self { value: Value::Map(entries.into()), origin: self.origin.clone() }
    }

    /// Returns the mapping without a key; any other node unchanged.
    #[must_use]
    pub fn without(&self, key: &str) -> Self {
        let Value::Map(entries) = &self.value else { return self.clone() };
        let kept: Vec<Entry> = entries.iter().filter(|entry| &*entry.key != key).cloned().collect();
        Self { value: Value::Map(kept.into()), origin: self.origin.clone() }
    }

    /// The number of items and entries of this tree that are not in memory for an earlier state of the tree.
    ///
    /// A change copies the lists and mappings around the changed values. All other ones are shared.
    pub fn unshared(&self, earlier: &Self) -> usize {
        match (&self.value, &earlier.value) {
            (Value::Scalar(..), _) => 0,
            (Value::Seq(own), Value::Seq(old)) if own.is_same(old) => 0,
            (Value::Map(own), Value::Map(old)) if own.is_same(old) => 0,
            (Value::Seq(own), Value::Seq(old)) => {
                // A change may add items at the start or at the end.
                let added = own.len().saturating_sub(old.len());
                let candidates = |at: usize| [Some(at), at.checked_sub(added)].into_iter().flatten();
                let of_item = |(at, item): (usize, &Self)| {
                    let known = candidates(at).filter_map(|at| old.get(at));
                    known.map(|old| item.unshared(old)).min().unwrap_or_else(|| item.size())
                };
                own.len() + own.iter().enumerate().map(of_item).sum::<usize>()
            }
            (Value::Map(own), Value::Map(old)) => {
                let of_entry = |(at, entry): (usize, &Entry)| {
                    let known = old.get(at).filter(|old| old.key == entry.key).map(|old| &old.node);
                    let known = known.or_else(|| earlier.get(&entry.key).filter(|_| own.len() <= FEW_ENTRIES));
                    known.map_or_else(|| entry.node.size(), |old| entry.node.unshared(old))
                };
                own.len() + own.iter().enumerate().map(of_entry).sum::<usize>()
            }
            _ => self.size(),
        }
    }

    /// The number of nodes in this tree, including this node. A shared node counts once for each path to it.
    pub fn size(&self) -> usize {
        match &self.value {
            Value::Scalar(..) => 1,
            Value::Seq(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|entry| entry.node.size()).sum::<usize>(),
        }
    }

    /// The approximate size of this tree in memory, in bytes.
    pub fn weight(&self) -> usize {
        const NODE: usize = 64;
        NODE + match &self.value {
            Value::Scalar(text, _) => text.len(),
            Value::Seq(items) => items.iter().map(Self::weight).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.key.len() + entry.node.weight()).sum(),
        }
    }
}

/// Compares values: scalars by text and by whether they are plain, mappings in any order. Ignores origins.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar(a, style_a), Value::Scalar(b, style_b)) => {
                a == b && (*style_a == Style::Plain) == (*style_b == Style::Plain)
            }
            (Value::Seq(a), Value::Seq(b)) => a.is_same(b) || a == b,
            (Value::Map(a), Value::Map(b)) => {
                a.is_same(b) || (a.len() == b.len() && a.iter().all(|entry| other.get(&entry.key) == Some(&entry.node)))
            }
            _ => false,
        }
    }
}

impl Entry {
    /// Creates an entry with the key at `key`, in the file of that span.
    pub fn new(name: impl Into<Name>, key: &Span, node: Node) -> Self {
        let range = key.range();
        let narrow = |n: usize| u32::try_from(n).expect("a file is shorter than File::MAX_LEN");
        Self { key: name.into(), key_span: (narrow(range.start), narrow(range.len())), node }
    }

    /// The position of the key, in the file that first set its value.
    pub fn key_span(&self) -> Span {
        let file = self.node.origin.written().file();
        let (start, len) = (self.key_span.0 as usize, self.key_span.1 as usize);
        file.span(start..start + len)
    }

    /// Returns whether the key is plain: its token equals its text, without quotes.
    pub fn is_plain(&self) -> bool {
        !self.key.is_empty() && self.key_span().text() == &*self.key
    }

    /// The same key with another value.
    #[must_use]
    pub fn with_node(&self, node: Node) -> Self {
        Self { key: self.key.clone(), key_span: self.key_span, node }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_forty_bytes() {
        assert_eq!(size_of::<Node>(), 32);
        assert_eq!(size_of::<Origin>(), 16);
    }
}
