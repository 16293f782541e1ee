//! An index of the evidence in the files of other programs.
//!
//! Each rule asks for each reference on each cluster, so an answer must not visit all programs.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use super::program_evidence::Evidence;
use crate::text::Index;

/// The maximum number of hyphens of a name at which a variable may end or start.
const MAX_HYPHENS: usize = 16;

/// The positions of the first programs with a fact, by what they create or name.
#[derive(Debug, Default)]
pub(super) struct ProgramIndex {
    /// The releases and charts.
    pub(super) charts: Index<String, FirstPrograms>,
    /// The API groups of CRDs.
    pub(super) groups: Index<String, FirstPrograms>,
    /// The names of objects, by kind. A `*` is a variable at the start or the end.
    objects: BTreeMap<&'static str, Index<String, FirstPrograms>>,
    /// The programs that create a namespace for each item of a list.
    pub(super) namespaces: FirstPrograms,
    /// The names of files that a program with kubectl mentions.
    pub(super) named_files: Index<String, FirstPrograms>,
}

/// The positions of the first programs.
#[derive(Debug, Default)]
pub(super) struct FirstPrograms {
    /// The first program outside of the directories of clusters, which may run for any cluster.
    of_all: Option<usize>,
    /// The first program in the directory of each cluster.
    by_cluster: BTreeMap<ArcStr, usize>,
}

impl ProgramIndex {
    /// The index of the evidence of a repository with clusters.
    pub(super) fn new<'a>(evidence: impl Iterator<Item = &'a Evidence>, clusters: &BTreeSet<ArcStr>) -> Self {
        let mut index = Self::default();
        for (at, one) in evidence.enumerate() {
            let of: Vec<&ArcStr> = one.file.path().split('/').filter_map(|segment| clusters.get(segment)).collect();
            let add = |first: &mut FirstPrograms| first.add(&of, at);
            one.charts.iter().for_each(|chart| add(index.charts.entry(chart.clone())));
            one.groups.iter().for_each(|group| add(index.groups.entry(group.clone())));
            one.named_files.iter().for_each(|name| add(index.named_files.entry(name.clone())));
            for (kind, name) in &one.objects {
                add(index.objects.entry(kind).or_default().entry(name.clone()));
            }
            if one.creates_namespaces {
                add(&mut index.namespaces);
            }
        }
        index
    }

    /// The programs that create an object. The names of some objects have a variable at their start or their end.
    pub(super) fn creators(&self, kind: &str, name: &str) -> Option<&FirstPrograms> {
        let objects = self.objects.get(kind)?;
        let hyphens = || name.match_indices('-').take(MAX_HYPHENS).map(|(at, _)| at);
        let by_end = || hyphens().find_map(|at| objects.get(&format!("*{}", name.get(at..)?)));
        let by_start = || hyphens().find_map(|at| objects.get(&format!("{}*", name.get(..=at)?)));
        objects.get(name).or_else(by_end).or_else(by_start)
    }
}

impl FirstPrograms {
    /// Adds a program in the directories of some clusters, or of none.
    fn add(&mut self, clusters: &[&ArcStr], at: usize) {
        if clusters.is_empty() {
            self.of_all.get_or_insert(at);
        }
        for cluster in clusters {
            self.by_cluster.entry((*cluster).clone()).or_insert(at);
        }
    }

    /// The position of the first program that may run for a cluster.
    pub(super) fn of(&self, cluster: &str) -> Option<usize> {
        self.of_all.into_iter().chain(self.by_cluster.get(cluster).copied()).min()
    }
}
