//! Which kustomization brings the Flux of a cluster.

use std::collections::BTreeSet;

use crate::flux::{Installation, Receiver, Repo};
use crate::text::Index;

/// The kustomizations that bring Flux's own installation, by the folders that they may be applied from.
pub(crate) struct Installations<'a> {
    all: &'a [Installation],
    /// The positions of these, by each run of segments of their folders: the folder of an applier starts at the root of
    /// its source, which may lie anywhere in the tree.
    by_run: Index<&'a str, Vec<usize>>,
}

impl<'a> Installations<'a> {
    /// Those of a repository.
    pub(crate) fn of(repo: &'a Repo) -> Self {
        let mut by_run: Index<&str, Vec<usize>> = Index::default();
        for (at, installation) in repo.installations.iter().enumerate() {
            for run in runs(&installation.folder) {
                by_run.entry(run).push(at);
            }
        }
        Self { all: &repo.installations, by_run }
    }

    /// Those that bring the Flux of a receiver.
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

/// The runs of a path's segments.
pub(crate) fn runs(folder: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(folder.match_indices('/').map(|(at, _)| at + 1));
    let rests = starts.filter_map(|start| folder.get(start..)).filter(|rest| !rest.is_empty());
    rests.flat_map(|rest| {
        let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
        ends.filter_map(|end| rest.get(..end))
    })
}
