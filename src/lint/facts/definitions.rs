//! The kinds that the objects of a repository define, each read once for all clusters.

use std::sync::{Arc, OnceLock};

use crate::api::catalog::{self, Definition, Elsewhere};
use crate::flux::Repo;
use crate::kube::Object;

/// The definitions of a repository.
pub(crate) struct Definitions<'a> {
    repo: &'a Repo,
    read: catalog::Definitions,
    elsewhere: OnceLock<Arc<Elsewhere>>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn of_repository(repo: &'a Repo) -> Self {
        Self { repo, read: catalog::Definitions::default(), elsewhere: OnceLock::new() }
    }

    /// The definition of a `CustomResourceDefinition` that a cluster receives.
    pub(crate) fn of(&self, object: &'a Object) -> Option<Arc<Definition>> {
        self.read.of(object)
    }

    /// The definitions that a cluster may have without receiving them.
    pub(crate) fn elsewhere(&self) -> Arc<Elsewhere> {
        let elsewhere = self.elsewhere.get_or_init(|| {
            let written = self.repo.objects.iter().map(|built| &built.object).chain(&self.repo.aside);
            Arc::new(Elsewhere::new([], written.filter_map(|object| self.read.of(object))))
        });
        elsewhere.clone()
    }
}
