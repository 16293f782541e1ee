//! A shared list whose reference is one pointer.

use std::fmt;
use std::ops::Deref;

use triomphe::ThinArc;

/// A shared list. Its length is beside its items in memory, so that nodes, which are many, need less memory than with an
/// `Arc<[T]>`.
pub struct List<T>(ThinArc<(), T>);

impl<T> List<T> {
    /// Returns whether both lists are the same list in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr())
    }

    /// The address of the items in memory, which identifies a list while it exists.
    pub fn address(&self) -> usize {
        self.as_ptr().addr()
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0.slice
    }
}

impl<T> List<T> {
    /// Creates a list of items whose number is known.
    pub fn of(items: impl ExactSizeIterator<Item = T>) -> Self {
        Self(ThinArc::from_header_and_iter((), items))
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: Eq> Eq for List<T> {}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self(ThinArc::from_header_and_iter((), items.into_iter()))
    }
}

impl<T, const N: usize> From<[T; N]> for List<T> {
    fn from(items: [T; N]) -> Self {
        Self(ThinArc::from_header_and_iter((), items.into_iter()))
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}
