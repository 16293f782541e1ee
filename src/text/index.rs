//! A hash map that can be asked but not iterated, so that no order of output can come from it.

#![expect(clippy::disallowed_types, reason = "the one place that may, since it cannot be iterated")]

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A map without order: look-ups only.
#[derive(Debug, Clone)]
pub struct Index<K, V>(HashMap<K, V, rustc_hash::FxBuildHasher>);

impl<K, V> Default for Index<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash, V> Index<K, V> {
    /// Puts a value; returns the one that stood there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    /// The value of a key, made when it is not there yet.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    /// The value of a key, made by `value` when it is not there yet.
    pub fn entry_or(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        self.0.entry(key).or_insert_with(value)
    }

    /// Tells whether a key is there.
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for Index<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
