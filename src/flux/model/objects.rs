//! The objects that one applier brings.

use std::sync::Arc;

use crate::kube::Object;

/// The objects that one applier brings: a list that all share whose builds differ in the values of variables alone, and the
/// few objects that are others because of these.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    shared: Arc<[Object]>,
    /// By position, in order.
    own: Arc<[(usize, Object)]>,
}

impl Objects {
    /// The same with others at some positions, in their order.
    pub(crate) fn with(&self, changed: Vec<(usize, Object)>) -> Self {
        if self.own.is_empty() {
            return Self { shared: self.shared.clone(), own: changed.into() };
        }
        let mut all: Vec<Object> = self.iter().cloned().collect();
        for (at, object) in changed {
            all[at] = object;
        }
        all.into()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// The object at a position.
    pub fn get(&self, at: usize) -> Option<&Object> {
        let shared = self.shared.get(at)?;
        Some(self.own_at(at).unwrap_or(shared))
    }

    /// All, in the order in which they are applied.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        let mut own = self.own.iter().peekable();
        self.shared
            .iter()
            .enumerate()
            .map(move |(at, shared)| own.next_if(|(position, _)| *position == at).map_or(shared, |(_, object)| object))
    }

    /// The list that others may share, in which objects of this one alone may look otherwise.
    pub fn shared(&self) -> &Arc<[Object]> {
        &self.shared
    }

    /// The list that others may share, without what is this one's own.
    #[must_use]
    pub fn alike(&self) -> Self {
        Self { shared: self.shared.clone(), own: Arc::default() }
    }

    /// Those that stand in the place of shared ones, by position.
    pub fn own(&self) -> &Arc<[(usize, Object)]> {
        &self.own
    }

    /// Whether the one at a position is its own.
    pub fn is_own(&self, at: usize) -> bool {
        self.own_at(at).is_some()
    }

    fn own_at(&self, at: usize) -> Option<&Object> {
        let position = self.own.binary_search_by_key(&at, |(position, _)| *position).ok()?;
        self.own.get(position).map(|(_, object)| object)
    }
}

impl std::ops::Index<usize> for Objects {
    type Output = Object;

    fn index(&self, at: usize) -> &Object {
        self.own_at(at).unwrap_or(&self.shared[at])
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
