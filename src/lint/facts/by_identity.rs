//! The index of a cluster's objects by identity. It detects an object that two appliers apply.

use super::identity_hash::identity_hash;
use super::listing::Listing;
use crate::kube::ObjectId;
use crate::text::Index;

/// The position of an object: the list, and the position in the list.
pub(crate) type ListPosition = (usize, usize);

/// The objects of a cluster by identity. Identities that differ may have the same hash.
#[derive(Default)]
pub(crate) struct ByIdentity {
    first: Index<u64, ListPosition>,
    /// The further objects with an identity, each with the first one.
    duplicates: Vec<(ListPosition, ListPosition)>,
}

impl ByIdentity {
    /// Indexes the objects of lists.
    pub(crate) fn index<'a>(lists: impl Iterator<Item = &'a Listing>) -> Self {
        let mut all = Self::default();
        for (list, listing) in lists.enumerate() {
            for (at, identity) in listing.identities.iter().enumerate() {
                let first = *all.first.entry_or(*identity, || (list, at));
                if first != (list, at) {
                    all.duplicates.push((first, (list, at)));
                }
            }
        }
        all
    }

    /// The first object that may have an identity.
    pub(crate) fn first(&self, id: ObjectId<'_>) -> Option<ListPosition> {
        self.first.get(&identity_hash(id)).copied()
    }

    /// The pairs of objects with the same identity: the first one, and each further one.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = &(ListPosition, ListPosition)> {
        self.duplicates.iter()
    }
}
