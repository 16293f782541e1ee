//! A hash map without iteration, so that no output depends on its order.

#![expect(clippy::disallowed_types, reason = "this type has no iterator")]

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A hash map with lookups, but without iteration.
#[derive(Debug, Clone)]
pub struct Index<K, V>(HashMap<K, V, rustc_hash::FxBuildHasher>);

impl<K, V> Default for Index<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Eq + Hash, V> Index<K, V> {
    /// Inserts a value and returns the previous value.
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

    /// The stored key that equals a key, and its value.
    pub fn get_with_key<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        self.0.get_key_value(key)
    }

    /// The value of a key. Inserts the default if the key is missing.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    /// The value of a key. Inserts `value` if the key is missing.
    pub fn entry_or(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        self.0.entry(key).or_insert_with(value)
    }

    /// Returns whether the map contains a key.
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for Index<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
