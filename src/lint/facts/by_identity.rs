//! The index of a cluster's objects by identity, which finds objects that two appliers apply.

use super::identity_hash::identity_hash;
use super::listing::Listing;
use crate::kube::ObjectId;
use crate::text::Index;

/// The position of an object: the list, and the position in the list.
pub(crate) type ListPosition = (usize, usize);

/// The objects of a cluster by the hash of their identity. Different identities may have the same hash.
#[derive(Default)]
pub(crate) struct ByIdentity {
    first: Index<u64, ListPosition>,
    /// The pairs of objects whose identities have the same hash: the first object, and a further object.
    duplicates: Vec<(ListPosition, ListPosition)>,
}

impl ByIdentity {
    /// Returns the index of the objects of several lists.
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

    /// The position of the first object that may have an identity.
    pub(crate) fn first(&self, id: ObjectId<'_>) -> Option<ListPosition> {
        self.first.get(&identity_hash(id)).copied()
    }

    /// The pairs of objects whose identities have the same hash: the first object, and a further object.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = &(ListPosition, ListPosition)> {
        self.duplicates.iter()
    }
}
