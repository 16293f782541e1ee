//! Indexes over lists of objects, each built once for all clusters that receive the list.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::identity_hash::{identity_hash, kind_hash};
use super::needs::Needs;
use super::private_values::encoding::is_encrypted;
use crate::flux::Objects;
use crate::kube::{Object, ObjectId, Scope, is_encrypted_value, scope_of};
use crate::text::Index;
use crate::yaml::{Name, Node};

/// The objects of a list by kind and identity.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    by_kind: Index<u64, Vec<usize>>,
    /// The hashes of the kinds, in the order of their first objects.
    pub(crate) kinds: Vec<u64>,
    /// The hash of each object's identity: objects with different hashes are different.
    pub(crate) identities: Vec<u64>,
    /// The positions of the SOPS-encrypted objects that their applier does not decrypt.
    pub(crate) encrypted: Vec<usize>,
    /// The positions of the objects whose name or namespace contains a variable.
    pub(crate) open_names: Vec<usize>,
    /// The namespaces of the objects, in order, each with the position of its first object.
    pub(crate) namespaces: Vec<(Name, usize)>,
    /// The positions of the namespaced objects without a namespace.
    pub(crate) without_namespace: Vec<usize>,
    /// The positions of the objects without a namespace whose scope only a `CustomResourceDefinition` defines.
    pub(crate) unknown_scope: Vec<usize>,
    needs: OnceLock<Needs>,
}

impl Listing {
    /// Returns the index of a list.
    pub(crate) fn index(objects: &Objects) -> Self {
        let mut seen: Index<Name, ()> = Index::default();
        let mut listing = Self { identities: Vec::with_capacity(objects.len()), ..Self::default() };
        for (at, object) in objects.iter().enumerate() {
            let (group, kind) = (object.group(), object.kind());
            let hash = kind_hash(group, kind);
            let of_kind = listing.by_kind.entry(hash);
            if of_kind.is_empty() {
                listing.kinds.push(hash);
            }
            of_kind.push(at);
            if is_encrypted(object) {
                listing.encrypted.push(at);
            }
            let namespace = object.node.at_keys(&["metadata", "namespace"]).and_then(Node::shared_text);
            if object.name().contains("${") || namespace.as_deref().is_some_and(|namespace| namespace.contains("${")) {
                listing.open_names.push(at);
            }
            listing.identities.push(identity_hash(ObjectId::of(object)));
            if namespace.as_deref().unwrap_or_default().is_empty() {
                match scope_of(group, kind) {
                    Scope::Namespaced => listing.without_namespace.push(at),
                    Scope::Unknown => listing.unknown_scope.push(at),
                    Scope::Cluster => {}
                }
            } else if let Some(namespace) = namespace
                && !is_encrypted_value(&namespace)
                && scope_of(group, kind) != Scope::Cluster
                && seen.insert(namespace.clone(), ()).is_none()
            {
                listing.namespaces.push((namespace, at));
            }
        }
        listing
    }

    /// Returns whether this index of `shared` is also valid for a list that replaces some objects with `own`.
    pub(crate) fn holds(&self, shared: &[Object], own: &[(usize, Object)]) -> bool {
        let is_alike = |(at, new): &(usize, Object)| {
            let Some(old) = shared.get(*at) else { return false };
            let same_identity = self.identities.get(*at) == Some(&identity_hash(ObjectId::of(new)))
                && old.namespace() == new.namespace();
            same_identity
                && !self.encrypted.contains(at)
                && !is_encrypted(new)
                && !Needs::reads(old)
                && !Needs::reads(new)
        };
        own.iter().all(is_alike)
    }

    /// The prerequisites of the list, whose objects are `objects`.
    pub(crate) fn needs(&self, objects: &Objects) -> &Needs {
        self.needs.get_or_init(|| Needs::collect(objects))
    }

    /// The positions of the objects of a kind.
    pub(crate) fn of_kind(&self, kind_hash: u64) -> &[usize] {
        self.by_kind.get(&kind_hash).map_or(&[], Vec::as_slice)
    }
}

/// The indexes of lists, by the address of a list in memory.
pub(crate) struct Listings {
    of_shared: Index<usize, Arc<Listing>>,
    /// Of the lists whose own objects change the index of the shared list.
    of_own: Mutex<Index<usize, Arc<Listing>>>,
}

impl Listings {
    /// Indexes the shared objects of all lists in parallel.
    pub(crate) fn of<'a>(lists: impl Iterator<Item = &'a Objects>) -> Self {
        let mut seen: Index<usize, ()> = Index::default();
        let distinct: Vec<&Objects> = lists.filter(|list| seen.insert(address(list), ()).is_none()).collect();
        let index = |list: &Objects| (address(list), Arc::new(Listing::index(&list.alike())));
        let indexed: Vec<(usize, Arc<Listing>)> = distinct.into_par_iter().map(index).collect();
        let mut of_shared: Index<usize, Arc<Listing>> = Index::default();
        for (address, listing) in indexed {
            of_shared.insert(address, listing);
        }
        Self { of_shared, of_own: Mutex::default() }
    }

    /// The index of a list. All clusters use the index of the shared objects, unless their own objects change it.
    pub(crate) fn get(&self, list: &Objects) -> Arc<Listing> {
        match self.of_shared.get(&address(list)) {
            Some(known) if known.holds(list.shared(), list.own()) => known.clone(),
            _ => {
                let mut of_own = self.of_own.lock().unwrap_or_else(PoisonError::into_inner);
                of_own.entry_or(list.own().as_ptr().addr(), || Arc::new(Listing::index(list))).clone()
            }
        }
    }
}

fn address(list: &Objects) -> usize {
    list.shared().as_ptr().addr()
}
