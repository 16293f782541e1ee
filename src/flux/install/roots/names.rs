//! The names of clusters: the parts of their directories that differ.

use std::collections::BTreeMap;

/// Names of directories that describe their contents, not their cluster.
const GENERIC: &[&str] = &[
    "_system",
    "apps",
    "base",
    "bootstrap",
    "cluster",
    "clusters",
    "config",
    "configs",
    "deploy",
    "flux",
    "flux-system",
    "fluxcd",
    "gitops",
    "gotk",
    "infra",
    "infrastructure",
    "k8s",
    "kubernetes",
    "manifests",
    "root",
    "setup",
    "sync",
    "system",
];

/// The directory that contains the directories of clusters by convention.
pub(super) const CLUSTERS: &str = "clusters";

/// The name of a cluster whose directory has only generic segments.
pub(super) const ONLY: &str = "cluster";

/// Returns whether the name of a directory describes its contents, not its cluster.
pub(super) fn is_generic(segment: &str) -> bool {
    GENERIC.contains(&segment)
}

/// Returns whether all segments of a directory are generic.
pub(super) fn is_only_generic(folder: &str) -> bool {
    folder.is_empty() || specific(folder) == ONLY
}

/// The names of directories with parts of clusters. A leading `_` has the same meaning.
const PARTS: &[&str] = &["base", "bases", "common", "components", "shared"];

/// Returns whether a directory with this name contains parts of clusters.
pub(super) fn is_part(segment: &str) -> bool {
    PARTS.contains(&segment) || segment.starts_with('_')
}

/// Returns whether the name of a directory is a placeholder, such as `CLUSTER_NAME` or `@NAME@`.
pub(super) fn is_placeholder(segment: &str) -> bool {
    let is_between = |mark: char| segment.len() > 2 && segment.starts_with(mark) && segment.ends_with(mark);
    if is_between('@') || is_between('%') {
        return true;
    }
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (segment.contains('_') && segment.chars().all(is_capital)) || segment.contains(['$', '{', '<'])
}

/// The names of the clusters with these directories: the shortest unique suffixes. They omit generic segments if the
/// remaining segments are unique.
pub(super) fn names(folders: &[String]) -> Vec<String> {
    let specific: Vec<String> = folders.iter().map(|folder| specific(folder)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in &specific {
        *counts.entry(folder).or_default() += 1;
    }
    let is_unique = |folder: &String| counts.get(folder.as_str()) == Some(&1);
    let chosen = specific.iter().zip(folders);
    let chosen: Vec<String> =
        chosen.map(|(specific, whole)| if is_unique(specific) { specific } else { whole }.clone()).collect();
    shortest(&chosen)
}

/// The segments of a directory that are not generic. The segment after `clusters` is never generic.
fn specific(folder: &str) -> String {
    let segments: Vec<&str> = folder.split('/').collect();
    let kept: Vec<&str> = (0..segments.len()).filter(|at| is_specific(&segments, *at)).map(|at| segments[at]).collect();
    if kept.is_empty() { ONLY.to_string() } else { kept.join("/") }
}

fn is_specific(segments: &[&str], at: usize) -> bool {
    (at > 0 && segments[at - 1] == CLUSTERS) || !is_generic(segments[at])
}

/// The number of segments from the last segment that is not generic to the end of a path.
fn up_to_specific(path: &str) -> usize {
    let segments: Vec<&str> = path.split('/').collect();
    (0..segments.len()).rev().find(|at| is_specific(&segments, *at)).map_or(1, |at| segments.len() - at)
}

/// The shortest unique suffixes of paths that contain a segment that is not generic.
fn shortest(paths: &[String]) -> Vec<String> {
    let end = |path: &str, count: usize| {
        let segments: Vec<&str> = path.split('/').collect();
        segments[segments.len().saturating_sub(count)..].join("/")
    };
    let mut counts: Vec<usize> = paths.iter().map(|path| up_to_specific(path)).collect();
    loop {
        let ends: Vec<String> = paths.iter().zip(&counts).map(|(path, count)| end(path, *count)).collect();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &ends {
            *seen.entry(name).or_default() += 1;
        }
        let mut grew = false;
        for ((name, count), path) in ends.iter().zip(&mut counts).zip(paths) {
            if seen.get(name.as_str()).is_some_and(|times| *times > 1) && name != path {
                *count += 1;
                grew = true;
            }
        }
        if !grew {
            return ends;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(folders: &[&str]) -> Vec<String> {
        names(&folders.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_the_shortest_unique_suffixes() {
        let paths = ["clusters/eu/prod", "clusters/us/prod", "clusters/staging", "prod"];
        assert_eq!(named(&paths), ["eu/prod", "us/prod", "staging", "prod"]);
    }

    #[test]
    fn names_have_generic_segments_only_if_the_others_are_not_unique() {
        assert_eq!(named(&["kubernetes/main/cluster/config", "kubernetes/test/cluster/config"]), ["main", "test"]);
        assert_eq!(named(&["nas-1/flux", "nas-1/config", "prod/flux"]), ["nas-1/flux", "nas-1/config", "prod"]);
        assert_eq!(named(&["kubernetes/clusters/apps", "kubernetes/clusters/infra"]), ["apps", "infra"]);
        assert_eq!(named(&["system/clusters/creodias/system", "clusters/home/_system"]), ["creodias", "home"]);
        assert_eq!(named(&["kubernetes/flux"]), ["cluster"]);
        assert_eq!(named(&["kubernetes/flux", "k8s/apps"]), ["flux", "apps"]);
    }
}
