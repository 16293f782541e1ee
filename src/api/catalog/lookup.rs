//! The catalog of a cluster: the schema of each kind, from the first source that has one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::built_in::{BuiltIn, Releases, built_in};
use super::definition::Definition;
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
    /// The definitions of each kind, the preferred ones first.
    by_kind: BTreeMap<Kind, Vec<Arc<Definition>>>,
}

impl Elsewhere {
    /// Collects definitions, the preferred ones first.
    pub fn new(definitions: impl Iterator<Item = Arc<Definition>>) -> Self {
        let mut by_kind: BTreeMap<Kind, Vec<Arc<Definition>>> = BTreeMap::new();
        for definition in definitions {
            by_kind.entry((definition.group.clone(), definition.kind.clone())).or_default().push(definition);
        }
        Self { by_kind }
    }

    /// The definitions of a kind, the preferred ones first.
    pub fn of_kind(&self, group: &str, kind: &str) -> &[Arc<Definition>] {
        self.by_kind.get(&(Name::from(group), Name::from(kind))).map_or(&[], Vec::as_slice)
    }

    /// All definitions, by group and kind.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.by_kind.values().flatten()
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
        for definition in self.elsewhere.of_kind(group, kind) {
            if let Some(schema) = definition.served(version).and_then(|served| served.schema()) {
                let origin = Origin::Elsewhere(definition.clone());
                return Lookup::Found(Found { schema: schema.clone(), scope: definition.scope, origin });
            }
        }
        match built_in(group, version, kind, &self.releases) {
            Some(found) => {
                let (schema, scope) = (found.schema.clone(), found.scope);
                Lookup::Found(Found { schema, scope, origin: Origin::BuiltIn(found) })
            }
            None => Lookup::Unknown,
        }
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
        match super::built_in::scope_of(group, kind) {
            Scope::Unknown => self.elsewhere.of_kind(group, kind).first().map_or(Scope::Unknown, |first| first.scope),
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
