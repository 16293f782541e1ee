//! All clusters of a repository, as the input of rules.

use std::sync::{Arc, Mutex, OnceLock};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::api_uses::RepositoryUses;
use super::cluster_policies::ClusterPolicies;
use super::facts::reached::ReachedFiles;
use super::findings::Findings;
use super::reconciled_branches::ReconciledBranches;
use super::view::View;
use crate::flux::{Governance, Repo};
use crate::kube::Object;
use crate::policy::Source;
use crate::text::Index;
use crate::yaml::Name;

/// Sources from which production clusters reconcile a branch, each with its cluster.
pub(super) type ProductionSources<'a> = Arc<Vec<(Name, &'a Object)>>;

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
    reached: OnceLock<ReachedFiles<'a>>,
    branches: OnceLock<ReconciledBranches<'a>>,
    /// The sources by repository, branch and directory. Most clusters have the same automations.
    pub(super) production_sources: Mutex<Index<(String, String, String), ProductionSources<'a>>>,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(views: &'a [View<'a>], repo: &'a Repo, governance: Governance, sources: &'a [Source]) -> Self {
        Self {
            views,
            repo,
            governance,
            sources,
            reached: OnceLock::new(),
            branches: OnceLock::new(),
            production_sources: Mutex::default(),
        }
    }

    /// The branches that production clusters reconcile.
    pub(super) fn reconciled_branches(&self) -> &ReconciledBranches<'a> {
        self.branches.get_or_init(|| ReconciledBranches::of(self.views))
    }

    /// Reads the admission policies of the clusters.
    pub(super) fn policies(&self) -> ClusterPolicies<'a> {
        ClusterPolicies::of(self.views, self.sources)
    }

    /// Collects the API versions that the clusters use.
    pub(super) fn api_uses(&self) -> RepositoryUses {
        RepositoryUses::of(self.views, &self.repo.patches)
    }

    /// The first cluster of each class of alike clusters.
    pub(super) fn distinct(&self) -> impl Iterator<Item = &'a View<'a>> {
        self.views.iter().enumerate().filter(|(at, view)| view.first == *at).map(|(_, view)| view)
    }

    /// Collects facts of each cluster. If the first of some alike clusters has none, the others have none.
    pub(super) fn of_views<T: Send + Sync>(
        &self,
        collect: impl Fn(&'a View<'a>, &mut Findings) -> Vec<T> + Sync,
    ) -> Vec<(Vec<T>, Findings)> {
        let run = |view: &'a View<'a>| {
            let mut found = Findings::default();
            (collect(view, &mut found), found)
        };
        let of_first: Vec<Option<(Vec<T>, Findings)>> =
            self.views.par_iter().enumerate().map(|(at, view)| (view.first == at).then(|| run(view))).collect();
        let none = |(of_first, view): (&Option<(Vec<T>, Findings)>, &View<'a>)| {
            let (facts, found) = of_first.as_ref()?;
            let is_none = facts.is_empty() && found.findings.is_empty() && !found.mentions(view.receiver.cluster);
            is_none.then(|| found.clone())
        };
        let without: Vec<Option<Findings>> = of_first.iter().zip(self.views).map(none).collect();
        let of_first = of_first.into_par_iter().zip(self.views);
        let all = of_first.map(|(own, view)| match (own, without.get(view.first)) {
            (Some(own), _) => own,
            (None, Some(Some(found))) => (Vec::new(), found.clone()),
            (None, _) => run(view),
        });
        all.collect()
    }

    /// The files that the clusters of the repository reach, including clusters that are not checked.
    pub(super) fn reached(&self) -> &ReachedFiles<'a> {
        // The searches for written objects need the same files.
        let shared = self.views.first().map(|view| view.written.reached());
        shared.unwrap_or_else(|| self.reached.get_or_init(|| ReachedFiles::in_repository(self.repo)))
    }
}
