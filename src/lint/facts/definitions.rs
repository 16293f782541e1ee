//! The kinds that the objects of a repository define, each read once for all clusters.

use std::sync::{Arc, OnceLock};

use crate::api::catalog::{self, Definition, Elsewhere};
use crate::flux::{Repo, Settings, definitions_elsewhere};
use crate::kube::Object;

/// The definitions of a repository.
pub(crate) struct Definitions<'a> {
    repo: &'a Repo,
    settings: &'a Settings,
    read: catalog::Definitions,
    elsewhere: OnceLock<Arc<Elsewhere>>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn of_repository(repo: &'a Repo, settings: &'a Settings) -> Self {
        Self { repo, settings, read: catalog::Definitions::default(), elsewhere: OnceLock::new() }
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
}
