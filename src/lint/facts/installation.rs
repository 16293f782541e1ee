//! The kustomizations that install Flux on a cluster.

use std::collections::BTreeSet;

use super::paths::segment_runs;
use crate::flux::{Installation, Receiver, Repo};
use crate::text::Index;

/// The kustomizations of a repository that install Flux, by the directories from which Flux may apply them.
pub(crate) struct Installations<'a> {
    all: &'a [Installation],
    /// The positions in `all`, by each run of segments of the installation's directory.
    by_run: Index<&'a str, Vec<usize>>,
}

impl<'a> Installations<'a> {
    /// The installations of a repository.
    pub(crate) fn in_repository(repo: &'a Repo) -> Self {
        let mut by_run: Index<&str, Vec<usize>> = Index::default();
        for (at, installation) in repo.installations.iter().enumerate() {
            for run in segment_runs(&installation.folder) {
                by_run.entry(run).push(at);
            }
        }
        Self { all: &repo.installations, by_run }
    }

    /// The installations of Flux on a receiver; none for a remote cluster.
    pub(crate) fn of_receiver(&self, receiver: &Receiver<'_>) -> Vec<&'a Installation> {
        if receiver.target.is_some() {
            return Vec::new();
        }
        if receiver.cluster.name.is_empty() {
            return self.all.iter().collect();
        }
        let appliers = receiver.cluster.appliers.iter().filter(|applier| applier.target.is_none());
        let found = appliers.filter_map(|applier| self.by_run.get(applier.folder.as_str()));
        let found: BTreeSet<usize> = found.flatten().copied().collect();
        found.into_iter().filter_map(|at| self.all.get(at)).collect()
    }
}
