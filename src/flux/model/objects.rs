//! The objects of one applier.

use std::sync::Arc;

use crate::kube::Object;

/// The objects of one applier: a list that builds share if they differ only in the values of variables, and the few
/// objects in which these builds differ.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    shared: Arc<[Object]>,
    /// The objects that differ from the shared list, sorted by position.
    own: Arc<[(usize, Object)]>,
}

impl Objects {
    /// The list with other objects at some positions. `changed` is sorted by position.
    pub(crate) fn with(&self, changed: Vec<(usize, Object)>) -> Self {
        if self.own.is_empty() {
            return Self { shared: self.shared.clone(), own: changed.into() };
        }
        let mut all: Vec<Object> = self.iter().cloned().collect();
        for (index, object) in changed {
            all[index] = object;
        }
        all.into()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// The object at a position.
    pub fn get(&self, index: usize) -> Option<&Object> {
        let shared = self.shared.get(index)?;
        Some(self.own_object(index).unwrap_or(shared))
    }

    /// The objects, in the order in which Flux applies them.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        let mut own = self.own.iter().peekable();
        self.shared.iter().enumerate().map(move |(index, shared)| {
            own.next_if(|(position, _)| *position == index).map_or(shared, |(_, object)| object)
        })
    }

    /// The shared list. The objects of this applier differ from the list at the positions of `own`.
    pub fn shared(&self) -> &Arc<[Object]> {
        &self.shared
    }

    /// A copy that has only the objects of the shared list.
    #[must_use]
    pub fn alike(&self) -> Self {
        Self { shared: self.shared.clone(), own: Arc::default() }
    }

    /// The objects that differ from the shared list, by position.
    pub fn own(&self) -> &Arc<[(usize, Object)]> {
        &self.own
    }

    /// Returns whether the object at a position differs from the shared list.
    pub fn is_own(&self, index: usize) -> bool {
        self.own_object(index).is_some()
    }

    fn own_object(&self, index: usize) -> Option<&Object> {
        let position = self.own.binary_search_by_key(&index, |(position, _)| *position).ok()?;
        self.own.get(position).map(|(_, object)| object)
    }
}

impl std::ops::Index<usize> for Objects {
    type Output = Object;

    fn index(&self, index: usize) -> &Object {
        self.own_object(index).unwrap_or(&self.shared[index])
    }
}

impl From<Vec<Object>> for Objects {
    fn from(objects: Vec<Object>) -> Self {
        Self { shared: objects.into(), own: Arc::default() }
    }
}

impl FromIterator<Object> for Objects {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        objects.into_iter().collect::<Vec<Object>>().into()
    }
}
