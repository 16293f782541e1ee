//! Hashes of identities and kinds, for the lookup of objects.

use std::hash::{Hash, Hasher};

use crate::kube::ObjectId;

/// A hash of an identity. Identities that the API server does not distinguish have the same hash.
pub(crate) fn identity_hash(id: ObjectId<'_>) -> u64 {
    hash(&id.settled())
}

/// A hash of a group and kind.
pub(crate) fn kind_hash(group: &str, kind: &str) -> u64 {
    hash(&(group, kind))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
