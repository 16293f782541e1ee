//! The kinds that the objects of a repository define, each read once for all clusters.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::distinct::memory_address;
use crate::api::catalog::{self, Catalog, Definition, Elsewhere, Releases};
use crate::flux::{Repo, Settings, definitions_elsewhere};
use crate::kube::Object;
use crate::text::Index;

/// The addresses of the received definitions, and the releases of a cluster.
type CatalogKey = (Vec<usize>, Releases);

/// The definitions of a repository.
pub(crate) struct Definitions<'a> {
    repo: &'a Repo,
    settings: &'a Settings,
    read: catalog::Definitions,
    elsewhere: OnceLock<Arc<Elsewhere>>,
    /// The catalogs, by the addresses of the definitions and by releases.
    catalogs: Mutex<Index<CatalogKey, Arc<Catalog>>>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn of_repository(repo: &'a Repo, settings: &'a Settings) -> Self {
        Self {
            repo,
            settings,
            read: catalog::Definitions::default(),
            elsewhere: OnceLock::new(),
            catalogs: Mutex::default(),
        }
    }

    /// The definition of a `CustomResourceDefinition` that a cluster receives.
    pub(crate) fn of(&self, object: &'a Object) -> Option<Arc<Definition>> {
        self.read.of(object)
    }

    /// The definitions that a cluster may have without receiving them.
    pub(crate) fn elsewhere(&self) -> Arc<Elsewhere> {
        let elsewhere =
            self.elsewhere.get_or_init(|| Arc::new(definitions_elsewhere(self.repo, self.settings, &self.read)));
        elsewhere.clone()
    }

    /// The catalog of the clusters that receive some definitions and have some releases.
    pub(crate) fn catalog(&self, received: impl Iterator<Item = &'a Object>, releases: Releases) -> Arc<Catalog> {
        let received: Vec<&Object> = received.collect();
        let key = (received.iter().map(|object| memory_address(object)).collect(), releases.clone());
        // Each entry is inserted in one step, so a panic leaves no partial entry.
        let known = || self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(catalog) = known().get(&key) {
            return catalog.clone();
        }
        let received = received.into_iter().filter_map(|object| self.of(object));
        let catalog = Arc::new(Catalog::new(received, self.elsewhere(), releases));
        // Another thread may have inserted the entry. The first entry remains.
        known().entry_or(key, || catalog).clone()
    }
}
