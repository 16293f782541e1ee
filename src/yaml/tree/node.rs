//! The node tree: what was written, and where each piece of it came from.
//!
//! Nodes are shared, not copied: a collection is one `Arc`, so a patch keeps every subtree it does not touch. A node
//! is 40 bytes; positions travel with it wherever kustomize or Flux moves it.

use std::sync::Arc;

use super::origin::{ChangedBy, Name, Origin, ValueChange};
use crate::text::Span;

/// A value and where it came from.
#[derive(Debug, Clone)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// Where it was written, and what moved or replaced it since.
    pub origin: Origin,
}

/// What was written. Scalars keep their text and style; what they mean is decided when they are read.
#[derive(Debug, Clone)]
pub enum Value {
    /// A scalar's text after escapes and folding, and its style.
    Scalar(Arc<str>, Style),
    /// The items of a sequence.
    Seq(Arc<[Node]>),
    /// The entries of a mapping in the order of the file; no key stands twice.
    Map(Arc<[Entry]>),
}

/// How a scalar was written; only plain ones can be anything but strings.
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
    /// A value that nobody can know, such as a Secret's. It satisfies every schema.
    Unknown,
}

/// A key, its place and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key's text.
    pub key: Name,
    /// Offset and length of the key in the file of `key_file`; see [`Entry::key_span`].
    key_span: (u32, u32),
    /// The value.
    pub node: Node,
}

impl Node {
    /// A node that stands where it was written.
    pub fn at(value: Value, span: Span) -> Self {
        Self { value, origin: Origin::At(span) }
    }

    /// A scalar that stands where it was written.
    pub fn scalar(text: impl Into<Arc<str>>, style: Style, span: Span) -> Self {
        Self::at(Value::Scalar(text.into(), style), span)
    }

    /// The place to show for this node: the last place in a file that decided its value.
    pub fn span(&self) -> &Span {
        self.origin.span()
    }

    /// The value of a key; `None` when this is no mapping or has no such key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    /// The value at a path of keys, for example `["metadata", "name"]`.
    pub fn at_keys(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a mapping; none for other nodes.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Scalar(..) | Value::Seq(_) => &[],
        }
    }

    /// The items of a sequence; none for other nodes.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Seq(items) => items,
            Value::Scalar(..) | Value::Map(_) => &[],
        }
    }

    /// The text of a scalar as written, whatever its type.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, _) => Some(text),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// The shared text of a scalar.
    pub fn shared_text(&self) -> Option<Arc<str>> {
        match &self.value {
            Value::Scalar(text, _) => Some(text.clone()),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Tells whether this is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// Tells whether this is a sequence.
    pub fn is_seq(&self) -> bool {
        matches!(self.value, Value::Seq(_))
    }

    /// Tells whether every YAML reader takes this for null: empty, `~` or `null` in plain style.
    pub fn is_null(&self) -> bool {
        let Value::Scalar(text, Style::Plain) = &self.value else { return false };
        matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
    }

    /// The same value, changed by a step: `was` keeps where it came from.
    #[must_use]
    pub fn changed(&self, value: Value, by: ChangedBy) -> Self {
        let step = ValueChange::new(by, Some(self.origin.clone()), Box::default());
        Self { value, origin: Origin::Via(Arc::new(step)) }
    }

    /// The value of a patch in the place of this one: variables that made the patch's value come after the patch.
    #[must_use]
    pub fn replaced_by(&self, new: &Node) -> Self {
        Self { value: new.value.clone(), origin: self.origin.replaced_by(&new.origin) }
    }

    /// This mapping with a key set: in place when it stands there, at the end otherwise.
    ///
    /// A node that is no mapping is returned as it is.
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

    /// This mapping without a key; the node itself when it has none.
    #[must_use]
    pub fn without(&self, key: &str) -> Self {
        let Value::Map(entries) = &self.value else { return self.clone() };
        let kept: Vec<Entry> = entries.iter().filter(|entry| &*entry.key != key).cloned().collect();
        Self { value: Value::Map(kept.into()), origin: self.origin.clone() }
    }

    /// How many nodes this tree has, itself included, counting shared ones as often as they are reached.
    pub fn size(&self) -> usize {
        match &self.value {
            Value::Scalar(..) => 1,
            Value::Seq(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|entry| entry.node.size()).sum::<usize>(),
        }
    }
}

/// Compares values: text and style class of scalars, items, entries in any order. Origins do not count.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar(a, style_a), Value::Scalar(b, style_b)) => {
                a == b && (*style_a == Style::Plain) == (*style_b == Style::Plain)
            }
            (Value::Seq(a), Value::Seq(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Map(a), Value::Map(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.len() == b.len() && a.iter().all(|entry| other.get(&entry.key) == Some(&entry.node)))
            }
            _ => false,
        }
    }
}

impl Entry {
    /// An entry whose key stands at `key`; the key's file is that of the span.
    pub fn new(name: impl Into<Name>, key: &Span, node: Node) -> Self {
        let range = key.range();
        let narrow = |n: usize| u32::try_from(n).expect("a file is shorter than File::MAX_LEN");
        Self { key: name.into(), key_span: (narrow(range.start), narrow(range.len())), node }
    }

    /// The place of the key: in the file that its value was first written in.
    pub fn key_span(&self) -> Span {
        let file = self.node.origin.written().file();
        let (start, len) = (self.key_span.0 as usize, self.key_span.1 as usize);
        file.span(start..start + len)
    }

    /// Tells whether the key was written plain: then its token is its text, without quotes.
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
        assert_eq!(size_of::<Node>(), 40);
        assert_eq!(size_of::<Origin>(), 16);
    }
}
