//! Iterations that visit each object once, although clusters share objects.

use crate::flux::Objects;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Value;

/// The position at which an object is written: the root of its copy, the path and the offset.
///
/// Builds and patches do not change this position.
pub(crate) type WrittenPosition<'a> = (Option<&'a str>, &'a str, usize);

/// The position at which an object is written.
pub(crate) fn written_position(object: &Object) -> WrittenPosition<'_> {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().root().map(|root| &**root), span.file().path(), span.range().start)
}

/// The address of an object in memory, which identifies a shared object while all objects are in memory.
pub(crate) fn memory_address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => entries.as_ptr().addr(),
        Value::Seq(_) | Value::Scalar(..) => 0,
    }
}

/// A part of a list: the objects that builds share, or the objects of one build that replace some of them.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// The shared list.
    Shared(&'a [Object]),
    /// The other objects, by position.
    Own(&'a [(usize, Object)]),
}

impl<'a> Part<'a> {
    /// The parts of a list.
    pub(crate) fn of(objects: &'a Objects) -> [Self; 2] {
        [Self::Shared(objects.shared()), Self::Own(objects.own())]
    }

    /// The address in memory. Empty parts have the same address.
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Shared([]) | Self::Own([]) => 0,
            Self::Shared(objects) => objects.as_ptr().addr(),
            Self::Own(objects) => objects.as_ptr().addr(),
        }
    }

    /// The objects, each with its position in the list. The list of a cluster may replace objects of a shared list.
    pub(crate) fn objects(self) -> impl Iterator<Item = (usize, &'a Object)> {
        let (shared, own) = match self {
            Self::Shared(objects) => (objects, &[][..]),
            Self::Own(objects) => (&[][..], objects),
        };
        shared.iter().enumerate().chain(own.iter().map(|(at, object)| (*at, object)))
    }
}

/// The objects of several lists, without duplicates. Clusters may share lists and objects.
pub(crate) fn distinct<'a>(lists: impl Iterator<Item = &'a Objects>) -> Vec<&'a Object> {
    let mut distinct = DistinctObjects::default();
    lists.flat_map(|list| distinct.take_new(list, 0)).collect()
}

/// An iteration over lists with shared objects that visits each object once per group of lists.
#[derive(Default)]
pub(crate) struct DistinctObjects {
    /// The positions of a shared list that every list so far has replaced, by list and group.
    replaced: Index<(usize, usize), Option<Vec<usize>>>,
    seen: Index<(usize, usize), ()>,
}

impl DistinctObjects {
    /// The objects of a list that no earlier list of the group contains.
    pub(crate) fn take_new<'a>(&mut self, list: &'a Objects, group: usize) -> Vec<&'a Object> {
        let (shared, own) = (list.shared(), list.own());
        let mut found: Vec<&'a Object> = Vec::new();
        match self.replaced.entry((shared.as_ptr().addr(), group)) {
            Some(replaced) => {
                found.extend(own.iter().map(|(_, object)| object));
                replaced.retain(|at| {
                    let is_own = list.is_own(*at);
                    found.extend(shared.get(*at).filter(|_| !is_own));
                    is_own
                });
            }
            replaced => {
                *replaced = Some(own.iter().map(|(at, _)| *at).collect());
                found.extend(list.iter());
            }
        }
        found.retain(|object| self.seen.insert((memory_address(object), group), ()).is_none());
        found
    }
}
