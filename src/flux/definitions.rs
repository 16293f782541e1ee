//! The definitions of kinds in the files of a repository, whether or not a cluster receives them.

use std::sync::Arc;

use crate::api::catalog::{Catalog, Definition, Definitions, Elsewhere, Releases, definitions_in};
use crate::flux::cluster::desired_state::Cluster;
use crate::flux::repo::repository::Repo;
use crate::flux::settings::Settings;

/// Collects the definitions of the configured directories, of the repository and of the copies of its sources.
pub fn definitions_elsewhere(repo: &Repo, settings: &Settings, definitions: &Definitions) -> Elsewhere {
    let configured = settings.schemas.iter().flat_map(definitions_in);
    let configured: Vec<Arc<Definition>> = configured.filter_map(|object| Definition::read(&object)).collect();
    let written = repo.objects.iter().map(|built| &built.object).chain(&repo.aside);
    let written: Vec<Arc<Definition>> = written.filter_map(|object| definitions.of(object)).collect();
    let copies = settings.copies.iter().filter_map(|copy| copy.outside()).flat_map(definitions_in);
    let copies: Vec<Arc<Definition>> = copies.filter_map(|object| Definition::read(&object)).collect();
    Elsewhere::new(configured, written.into_iter().chain(copies))
}

/// The kinds of a cluster, for single questions. The linter has a catalog of each cluster.
pub fn catalog_of(cluster: &Cluster, repo: &Repo, settings: &Settings) -> Catalog {
    let definitions = Definitions::default();
    let elsewhere = definitions_elsewhere(repo, settings, &definitions);
    let received = cluster.objects().filter_map(|applied| definitions.of(applied.object));
    Catalog::new(received, Arc::new(elsewhere), Releases::default())
}
