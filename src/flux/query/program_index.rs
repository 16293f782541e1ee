//! An index of the evidence in the files of other programs.
//!
//! Each rule asks for each reference on each cluster, so an answer must not visit all programs.

use std::collections::{BTreeMap, BTreeSet};

use arcstr::ArcStr;

use super::program_evidence::Evidence;
use crate::text::Index;

/// The positions of the first programs with a fact, by what they create or name.
#[derive(Debug, Default)]
pub(super) struct ProgramIndex {
    /// The releases and charts.
    pub(super) charts: Index<String, FirstPrograms>,
    /// The API groups of CRDs.
    pub(super) groups: Index<String, FirstPrograms>,
    /// The names of objects, by kind.
    objects: BTreeMap<&'static str, Index<String, FirstPrograms>>,
    /// The programs that create a namespace for each item of a list.
    pub(super) namespaces: FirstPrograms,
    /// The names of files that a program with kubectl mentions.
    pub(super) named_files: Index<String, FirstPrograms>,
}

/// The position of the first program for each cluster. `None` is the key of the programs that belong to no cluster.
#[derive(Debug, Default)]
pub(super) struct FirstPrograms(BTreeMap<Option<ArcStr>, usize>);

impl ProgramIndex {
    /// The index of the evidence of a repository with clusters.
    pub(super) fn new<'a>(evidence: impl Iterator<Item = &'a Evidence>, clusters: &BTreeSet<ArcStr>) -> Self {
        let mut index = Self::default();
        for (at, one) in evidence.enumerate() {
            let of = clusters_of(one.file.path(), clusters);
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

    /// The programs that create an object.
    pub(super) fn creators(&self, kind: &str, name: &str) -> Option<&FirstPrograms> {
        self.objects.get(kind)?.get(name)
    }
}

impl FirstPrograms {
    fn add(&mut self, clusters: &[Option<ArcStr>], at: usize) {
        for cluster in clusters {
            self.0.entry(cluster.clone()).or_insert(at);
        }
    }

    /// The position of the first program that may run for a cluster.
    pub(super) fn of(&self, cluster: &str) -> Option<usize> {
        let own = self.0.get(&Some(cluster.into()));
        self.0.get(&None).into_iter().chain(own).min().copied()
    }
}

/// The clusters whose directories contain a program; `None` for a program outside of these directories.
fn clusters_of(path: &str, clusters: &BTreeSet<ArcStr>) -> Vec<Option<ArcStr>> {
    let own: Vec<Option<ArcStr>> =
        path.split('/').filter_map(|segment| clusters.get(segment)).map(|name| Some(name.clone())).collect();
    if own.is_empty() { vec![None] } else { own }
}
