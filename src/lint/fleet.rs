//! All clusters of a repository, as the input of rules.

use std::sync::OnceLock;

use super::facts::policies::ClusterPolicies;
use super::facts::reached::ReachedFiles;
use super::view::View;
use crate::flux::{Governance, Repo};
use crate::policy::Source;

/// All clusters of a repository.
pub struct Fleet<'a> {
    /// The clusters, ordered by name.
    pub views: &'a [View<'a>],
    /// The repository.
    pub repo: &'a Repo,
    /// The file that governs the repository, such as a fleet.yaml.
    pub governance: Governance,
    /// The policies of the configuration.
    sources: &'a [Source],
    policies: OnceLock<ClusterPolicies<'a>>,
    reached: OnceLock<ReachedFiles<'a>>,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(views: &'a [View<'a>], repo: &'a Repo, governance: Governance, sources: &'a [Source]) -> Self {
        Self { views, repo, governance, sources, policies: OnceLock::new(), reached: OnceLock::new() }
    }

    /// The admission policies of the clusters.
    pub(super) fn policies(&self) -> &ClusterPolicies<'a> {
        self.policies.get_or_init(|| ClusterPolicies::of(self.views, self.sources))
    }

    /// The files that the clusters of the repository reach, including clusters that are not checked.
    pub(super) fn reached(&self) -> &ReachedFiles<'a> {
        self.reached.get_or_init(|| ReachedFiles::in_repository(self.repo))
    }
}
