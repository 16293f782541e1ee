//! The catalog of a cluster: the schema of each kind, from the first source that has one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::built_in::{self, BuiltIn, Product, Releases, built_in};
use super::definition::{Definition, Version};
use crate::api::schema::Link;
use crate::kube::{Object, Scope};
use crate::text::Index;
use crate::yaml::{Name, Value};

/// The kinds of one cluster.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The definitions that the cluster receives.
    received: Index<Kind, Arc<Definition>>,
    elsewhere: Arc<Elsewhere>,
    releases: Releases,
}

type Kind = (Name, Name);

/// The result of a search.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The schema of the kind.
    Found(Found),
    /// The cluster receives a definition that does not serve the version.
    NotServed(Arc<Definition>),
    /// The cluster does not receive a definition, and different definitions exist elsewhere. This is one of them.
    Ambiguous(Arc<Definition>),
    /// No source has a schema.
    Unknown,
}

/// A schema and its origin.
#[derive(Debug, Clone)]
pub struct Found {
    /// The schema.
    pub schema: Link,
    /// Whether objects have a namespace.
    pub scope: Scope,
    /// The source of the schema.
    pub origin: Origin,
}

/// The source of a schema.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A definition that the cluster receives.
    Received(Arc<Definition>),
    /// A definition elsewhere in the repository, in a copy of a source, or in a configured directory.
    Elsewhere(Arc<Definition>),
    /// The binary.
    BuiltIn(BuiltIn),
}

/// The definitions that a cluster may have without receiving them from the repository.
#[derive(Debug, Default)]
pub struct Elsewhere {
    by_kind: BTreeMap<Kind, Candidates>,
}

/// The definitions of a kind.
#[derive(Debug, Default)]
struct Candidates {
    /// The definition in a configured directory.
    configured: Option<Arc<Definition>>,
    /// The first definition in the repository or in a copy.
    written: Option<Arc<Definition>>,
    /// Whether another definition in the repository or in a copy differs from the first.
    is_ambiguous: bool,
}

impl Elsewhere {
    /// Collects the definitions of configured directories, and those of the repository and of copies.
    pub fn new(
        configured: impl IntoIterator<Item = Arc<Definition>>,
        written: impl IntoIterator<Item = Arc<Definition>>,
    ) -> Self {
        let mut by_kind: BTreeMap<Kind, Candidates> = BTreeMap::new();
        let id = |definition: &Definition| (definition.group.clone(), definition.kind.clone());
        for definition in configured {
            by_kind.entry(id(&definition)).or_default().configured.get_or_insert(definition);
        }
        for definition in written {
            let candidates = by_kind.entry(id(&definition)).or_default();
            let first = candidates.written.get_or_insert_with(|| definition.clone());
            candidates.is_ambiguous |= !first.is_alike(&definition);
        }
        Self { by_kind }
    }

    /// The definition of a kind; `None` if several definitions differ.
    pub fn find(&self, group: &str, kind: &str) -> Option<&Arc<Definition>> {
        let candidates = self.of(group, kind)?;
        let written = candidates.written.as_ref().filter(|_| !candidates.is_ambiguous);
        candidates.configured.as_ref().or(written)
    }

    /// All definitions without an ambiguity, by group and kind.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.by_kind.keys().filter_map(|(group, kind)| self.find(group, kind))
    }

    fn of(&self, group: &str, kind: &str) -> Option<&Candidates> {
        if self.by_kind.is_empty() {
            return None;
        }
        self.by_kind.get(&(Name::from(group), Name::from(kind)))
    }
}

impl Catalog {
    /// Creates the catalog of a cluster.
    pub fn new(received: impl Iterator<Item = Arc<Definition>>, elsewhere: Arc<Elsewhere>, releases: Releases) -> Self {
        let received = received.map(|definition| ((definition.group.clone(), definition.kind.clone()), definition));
        Self { received: received.collect(), elsewhere, releases }
    }

    /// The releases of the cluster.
    pub fn releases(&self) -> &Releases {
        &self.releases
    }

    /// The schema of a version of a kind.
    pub fn find(&self, group: &str, version: &str, kind: &str) -> Lookup {
        if let Some(definition) = self.received(group, kind) {
            let Some(served) = definition.served(version) else { return Lookup::NotServed(definition.clone()) };
            let Some(schema) = served.schema() else { return Lookup::Unknown };
            let origin = Origin::Received(definition.clone());
            return Lookup::Found(Found { schema: schema.clone(), scope: definition.scope, origin });
        }
        if let Some(candidates) = self.elsewhere.of(group, kind) {
            // The kinds of a known release are those of the binary, not those of another cluster.
            let is_released = Product::of_group(group) == Some(Product::Flux) && self.releases.flux.is_some();
            let written = candidates.written.as_ref().filter(|_| !is_released);
            if let Some(definition) = candidates.configured.as_ref().or(written) {
                if candidates.configured.is_none() && candidates.is_ambiguous {
                    return Lookup::Ambiguous(definition.clone());
                }
                if let Some(schema) = definition.served(version).and_then(Version::schema) {
                    let origin = Origin::Elsewhere(definition.clone());
                    return Lookup::Found(Found { schema: schema.clone(), scope: definition.scope, origin });
                }
            }
        }
        let Some(found) = built_in(group, version, kind, &self.releases) else { return Lookup::Unknown };
        let (schema, scope) = (found.schema.clone(), found.scope);
        Lookup::Found(Found { schema, scope, origin: Origin::BuiltIn(found) })
    }

    /// The definition of a kind that the cluster receives.
    pub fn received(&self, group: &str, kind: &str) -> Option<&Arc<Definition>> {
        if self.received.is_empty() {
            return None;
        }
        self.received.get(&(Name::from(group), Name::from(kind)))
    }

    /// The scope of a kind.
    pub fn scope(&self, group: &str, kind: &str) -> Scope {
        if let Some(definition) = self.received(group, kind) {
            return definition.scope;
        }
        match built_in::scope_of(group, kind) {
            Scope::Unknown => self.elsewhere.find(group, kind).map_or(Scope::Unknown, |found| found.scope),
            known => known,
        }
    }
}

/// The definitions of shared objects, each read once.
#[derive(Debug, Default)]
pub struct Definitions {
    read: Mutex<Index<usize, Option<Arc<Definition>>>>,
}

impl Definitions {
    /// The definition of an object that stays in memory.
    pub fn of(&self, object: &Object) -> Option<Arc<Definition>> {
        let Value::Map(entries) = &object.node.value else { return None };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry_or(entries.as_ptr().addr(), || Definition::read(object)).clone()
    }
}
