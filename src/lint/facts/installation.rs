//! The kustomizations that install Flux on a cluster.

use std::collections::BTreeSet;

use super::paths::segment_runs;
use crate::flux::{Installation, Receiver, Repo, State};
use crate::text::{Index, is_inside};

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
        let appliers = || receiver.cluster.appliers.iter().filter(|applier| applier.target.is_none());
        let roots: BTreeSet<_> = appliers().filter(|one| one.is_of_root()).map(|one| &one.source).collect();
        // Nothing shows that the directory of an applier with another source is in this repository.
        let appliers =
            appliers().filter(|one| one.state == State::Built || roots.is_empty() || roots.contains(&one.source));
        let found: BTreeSet<usize> = appliers.flat_map(|applier| self.at_folder(&applier.folder)).collect();
        found.into_iter().filter_map(|at| self.all.get(at)).collect()
    }

    /// The positions of the installations in a directory of a source.
    ///
    /// The root of the source is usually that of the repository. Otherwise, it may be any directory.
    fn at_folder(&self, folder: &str) -> impl Iterator<Item = usize> {
        let found = self.by_run.get(folder).map_or(&[][..], Vec::as_slice);
        let is_below = move |at: &&usize| self.all.get(**at).is_some_and(|one| is_inside(&one.folder, folder));
        let is_at_root = found.iter().any(|at| is_below(&at));
        found.iter().filter(move |at| !is_at_root || is_below(at)).copied()
    }
}
