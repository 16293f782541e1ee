//! The patches that are laid over the Flux of a cluster.

use std::collections::BTreeSet;

use crate::flux::{Receiver, Repo};
use crate::text::Index;

/// The patches that a repository lays over Flux itself, by the folders that they may be applied from.
pub(super) struct Installations<'a> {
    patches: Vec<&'a str>,
    /// The positions of the patches, by each run of segments of their folders: the folder of an applier starts at the
    /// root of its source, which may lie anywhere in the tree.
    by_run: Index<&'a str, Vec<usize>>,
}

impl<'a> Installations<'a> {
    /// Those of a repository.
    pub(super) fn of(repo: &'a Repo) -> Self {
        let mut by_run: Index<&str, Vec<usize>> = Index::default();
        for (at, (folder, _)) in repo.installation_patches.iter().enumerate() {
            for run in runs(folder) {
                by_run.entry(run).push(at);
            }
        }
        Self { patches: repo.installation_patches.iter().map(|(_, text)| text.as_str()).collect(), by_run }
    }

    /// Those that are laid over the Flux of a receiver.
    pub(super) fn of_receiver(&self, receiver: &Receiver<'_>) -> Vec<&'a str> {
        if receiver.target.is_some() {
            return Vec::new();
        }
        if receiver.cluster.name.is_empty() {
            return self.patches.clone();
        }
        let appliers = receiver.cluster.appliers.iter().filter(|applier| applier.target.is_none());
        let found = appliers.filter_map(|applier| self.by_run.get(applier.folder.as_str()));
        let found: BTreeSet<usize> = found.flatten().copied().collect();
        found.into_iter().filter_map(|at| self.patches.get(at).copied()).collect()
    }
}

/// The runs of a path's segments.
pub(super) fn runs(folder: &str) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(folder.match_indices('/').map(|(at, _)| at + 1));
    let rests = starts.filter_map(|start| folder.get(start..)).filter(|rest| !rest.is_empty());
    rests.flat_map(|rest| {
        let ends = rest.match_indices('/').map(|(at, _)| at).chain([rest.len()]);
        ends.filter_map(|end| rest.get(..end))
    })
}
