//! What rules ask of a list of objects: found once for all clusters that receive it.

use std::hash::{Hash, Hasher};

use crate::kube::Object;
use crate::text::Index;

/// The objects of a list by kind, and what tells each of them from others.
#[derive(Debug, Default)]
pub(super) struct Listing {
    by_kind: Index<u64, Vec<usize>>,
    /// A hash of each object's identity: where these differ, the objects do.
    pub(super) prints: Vec<u64>,
    /// The positions of those that SOPS encrypted and nobody decrypted.
    pub(super) encrypted: Vec<usize>,
}

impl Listing {
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut listing = Self { prints: Vec::with_capacity(objects.len()), ..Self::default() };
        for (at, object) in objects.iter().enumerate() {
            let (group, kind) = (object.group(), object.kind());
            listing.by_kind.entry(kind_print(group, kind)).push(at);
            let namespace = object.namespace().unwrap_or_default();
            listing.prints.push(print(group, kind, namespace, object.name()));
            if object.node.get("sops").is_some() {
                listing.encrypted.push(at);
            }
        }
        listing
    }

    /// The positions of the objects of a kind.
    pub(super) fn of_kind(&self, kind_print: u64) -> &[usize] {
        self.by_kind.get(&kind_print).map_or(&[], Vec::as_slice)
    }
}

/// A hash of an identity, whatever the version.
pub(super) fn print(group: &str, kind: &str, namespace: &str, name: &str) -> u64 {
    hash(&(group, kind, namespace, name))
}

/// A hash of a group and kind.
pub(super) fn kind_print(group: &str, kind: &str) -> u64 {
    hash(&(group, kind))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
