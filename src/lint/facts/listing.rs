//! What rules ask of a list of objects: found once for all clusters that receive it.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use super::needs::Needs;
use super::private_values::is_encrypted;
use crate::flux::Objects;
use crate::kube::Object;
use crate::lint::scope::{Scope, scope_of, settled_namespace};
use crate::text::Index;
use crate::yaml::{Name, Node};

/// The objects of a list by kind, and what tells each of them from others.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    by_kind: Index<u64, Vec<usize>>,
    /// A hash of each object's identity: where these differ, the objects do.
    pub(crate) prints: Vec<u64>,
    /// The positions of those that SOPS encrypted and nobody decrypted.
    pub(crate) encrypted: Vec<usize>,
    /// The namespaces that objects name, in their order, each with the position of the first that does.
    pub(crate) namespaces: Vec<(Name, usize)>,
    /// The positions of the objects that live in a namespace and name none.
    pub(crate) unplaced: Vec<usize>,
    /// The positions of the objects that name none and of which only their definition tells whether they need one.
    pub(crate) open: Vec<usize>,
    needs: OnceLock<Needs>,
}

impl Listing {
    pub(crate) fn of(objects: &Objects) -> Self {
        let mut seen: Index<Name, ()> = Index::default();
        let mut listing = Self { prints: Vec::with_capacity(objects.len()), ..Self::default() };
        for (at, object) in objects.iter().enumerate() {
            let (group, kind) = (object.group(), object.kind());
            listing.by_kind.entry(kind_print(group, kind)).push(at);
            if is_encrypted(object) {
                listing.encrypted.push(at);
            }
            let namespace = object.node.at_keys(&["metadata", "namespace"]).and_then(Node::shared_text);
            let named = namespace.as_deref().unwrap_or_default();
            listing.prints.push(print(group, kind, named, object.name()));
            if named.is_empty() {
                match scope_of(group, kind) {
                    Scope::Namespaced => listing.unplaced.push(at),
                    Scope::Unknown => listing.open.push(at),
                    Scope::Cluster => {}
                }
            } else if let Some(namespace) = namespace
                && scope_of(group, kind) != Scope::Cluster
                && seen.insert(namespace.clone(), ()).is_none()
            {
                listing.namespaces.push((namespace, at));
            }
        }
        listing
    }

    /// Whether all of it is true of a list with other objects at some positions, too. `shared` are its own objects.
    pub(crate) fn holds(&self, shared: &[Object], own: &[(usize, Object)]) -> bool {
        let is_alike = |(at, new): &(usize, Object)| {
            let Some(old) = shared.get(*at) else { return false };
            let same_name = self.prints.get(*at) == Some(&print_of(new)) && old.namespace() == new.namespace();
            same_name
                && !self.encrypted.contains(at)
                && !is_encrypted(new)
                && !Needs::looks_into(old)
                && !Needs::looks_into(new)
        };
        own.iter().all(is_alike)
    }

    /// What the objects need before them, and what they bring; `objects` are those of the list.
    pub(crate) fn needs(&self, objects: &Objects) -> &Needs {
        self.needs.get_or_init(|| Needs::of(objects))
    }

    /// The positions of the objects of a kind.
    pub(crate) fn of_kind(&self, kind_print: u64) -> &[usize] {
        self.by_kind.get(&kind_print).map_or(&[], Vec::as_slice)
    }
}

/// A hash of an identity, whatever the version. What names no namespace is what names the default one.
pub(crate) fn print(group: &str, kind: &str, namespace: &str, name: &str) -> u64 {
    hash(&(group, kind, settled_namespace(group, kind, namespace), name))
}

fn print_of(object: &Object) -> u64 {
    print(object.group(), object.kind(), object.namespace().unwrap_or_default(), object.name())
}

/// A hash of a group and kind.
pub(crate) fn kind_print(group: &str, kind: &str) -> u64 {
    hash(&(group, kind))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
