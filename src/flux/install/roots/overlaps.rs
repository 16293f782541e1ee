//! Candidates that are not roots, and roots that sync the directories of other clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{CandidateKind, RootCandidate, base_of};
use super::coverage::{Coverage, contains_itself};
use super::names::{CLUSTERS, is_generic, is_placeholder};
use super::repository::repository;
use crate::base::finding::{Finding, Severity};
use crate::base::set_aside::{is_former, is_set_aside, is_template};
use crate::flux::install::includers::Includers;
use crate::flux::object::kinds::is_source;
use crate::flux::object::kustomization_path::clamp;
use crate::kube::Object;
use crate::text::{Span, Tree, folder_of, is_inside};

/// The id of the rule for overlapping roots.
pub(super) const OVERLAPPING_SYNC: &str = "overlapping-sync";

/// The maximum number of clusters that a message lists.
const MAX_NAMED: usize = 3;

/// An excluded root, which syncs the directories of other clusters.
pub(crate) struct Overlap {
    pub(crate) finding: Finding,
    /// The directory of the bootstrap. Since the root is excluded, no cluster applies this directory.
    pub(crate) folder: String,
}

/// Removes the candidates that no cluster uses: templates, examples beside real clusters, and files of `flux bootstrap`
/// beside a FluxInstance.
///
/// A FluxInstance without the address of a repository syncs an artifact, and Flux Operator applies it only if the cluster
/// receives it. If it is outside of the directory that it syncs, it replaces no file of `flux bootstrap` inside. If it is
/// inside, the source of `flux bootstrap` still contains the tree. If it is outside and has another namespace, it is not the
/// successor of `flux bootstrap`: its namespace may be that of a tenant.
pub(super) fn remove_unused(tree: &Tree, coverage: &Coverage<'_>, candidates: &mut Vec<RootCandidate>) {
    candidates.retain(|one| one.kind == CandidateKind::Declared || !(is_unfilled(tree, one) || is_moved(tree, one)));
    if candidates.iter().any(|one| one.synced(tree).is_some()) {
        candidates.retain(|one| !is_renamed(tree, one));
        let operated = candidates.iter().filter(|one| one.is_of_operator());
        let operated: Vec<(String, String)> =
            operated.filter_map(|one| Some((repository(&one.objects)?, one.synced(tree)?))).collect();
        candidates.retain(|one| !is_moved_away(tree, one, &operated));
    }
    // The directory of a cluster may have any name.
    let is_cluster =
        |folder: &str| folder.split('/').any(|segment| segment == CLUSTERS) || folder_of(folder).is_empty();
    let is_aside = |one: &RootCandidate| {
        one.kind != CandidateKind::Declared && is_set_aside(folder_of(cluster_folder(&one.home)), is_cluster)
    };
    if candidates.iter().any(|one| !is_aside(one)) {
        candidates.retain(|one| !is_aside(one));
    }
    let operated: Vec<Operated> = candidates
        .iter()
        .enumerate()
        .filter(|(_, one)| one.is_of_operator())
        .map(|(at, one)| {
            let is_outside = !contains_itself(tree, coverage, one);
            Operated {
                at,
                home: one.home.clone(),
                synced: one.synced(tree),
                is_loose: is_outside && repository(&one.objects).is_none(),
                is_outside,
                namespace: one.namespace(),
            }
        })
        .collect();
    // A fleet has a FluxInstance for each cluster, so a comparison of all pairs would take quadratic time.
    let mut by_home: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut by_synced: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, by) in operated.iter().enumerate() {
        by_home.entry(&by.home).or_default().push(at);
        if let Some(synced) = by.synced.as_deref().filter(|synced| !synced.is_empty()) {
            by_synced.entry(synced).or_default().push(at);
        }
    }
    let mut formers: Vec<(usize, Object, String)> = Vec::new();
    let keep = candidates.iter().map(|one| {
        if !one.is_bootstrap() {
            return true;
        }
        let synced = one.synced(tree);
        let has_own = one.kind == CandidateKind::Sync && contains_itself(tree, coverage, one);
        let is_left_over = |by: &&Operated| {
            let folder = by.synced.as_deref().filter(|folder| !folder.is_empty() && !is_beside(&by.home, folder));
            let is_in = |path: &str| folder.is_some_and(|folder| is_inside(path, folder));
            let is_replaced = by.home == one.home || (is_in(&one.home) && synced.as_deref().is_none_or(is_in));
            let is_of_other = by.is_outside && by.namespace != one.namespace();
            is_replaced && !((by.is_loose || is_of_other) && has_own)
        };
        let around = folders_around(&one.home).filter_map(|folder| by_synced.get(folder));
        let near = by_home.get(&*one.home).into_iter().chain(around).flatten();
        let by = near.filter(|at| is_left_over(&&operated[**at])).min().map(|at| &operated[*at]);
        if let (Some(by), Some(source), true) = (by, one.objects.iter().find(|object| is_source(object)), has_own) {
            formers.push((by.at, source.clone(), one.prefix(tree).unwrap_or_default()));
        }
        by.is_none()
    });
    let keep: Vec<bool> = keep.collect();
    for (at, source, prefix) in formers {
        candidates[at].further_sources.push((source, prefix));
    }
    let mut keep = keep.into_iter();
    candidates.retain(|_| keep.next() == Some(true));
}

/// A candidate that Flux Operator creates.
struct Operated {
    /// The index of the candidate.
    at: usize,
    home: String,
    synced: Option<String>,
    /// Whether it syncs an artifact, and is outside of the directory that it syncs.
    is_loose: bool,
    /// Whether it is outside of the directory that it syncs.
    is_outside: bool,
    namespace: Option<String>,
}

/// Returns whether a candidate is in a tree that was moved into a directory of former files.
///
/// Its path is relative to the former root of the repository.
pub(super) fn is_moved(tree: &Tree, one: &RootCandidate) -> bool {
    one.prefix(tree).is_some_and(|prefix| is_former(&prefix))
}

/// Returns whether a bootstrap with a missing path is in a directory of former files, which is not the directory of a
/// cluster.
fn is_renamed(tree: &Tree, one: &RootCandidate) -> bool {
    let own = cluster_folder(&one.home);
    let above = folder_of(own);
    let outer = if above.rsplit('/').next() == Some(CLUSTERS) { above } else { own };
    one.is_bootstrap() && one.synced(tree).is_none() && is_former(outer)
}

/// Returns whether a bootstrap with a missing path was moved out of the directory that contains its path, and Flux
/// Operator now syncs a part of that directory from the same repository.
///
/// `flux bootstrap` writes the file into the synced directory, so the end of the path shows where the file was.
fn is_moved_away(tree: &Tree, one: &RootCandidate, operated: &[(String, String)]) -> bool {
    if !one.is_bootstrap() || one.synced(tree).is_some() {
        return false;
    }
    let (path, own) = (clamp(&one.path), repository(&one.objects));
    let home = one.home.strip_suffix("/flux-system").unwrap_or(&one.home);
    path.match_indices('/').map(|(at, _)| path.split_at(at)).any(|(outer, end)| {
        let is_replaced = |(of, synced): &(String, String)| own.as_ref() == Some(of) && is_inside(synced, outer);
        home.ends_with(end) && operated.iter().any(is_replaced)
    })
}

/// Removes each `gotk-sync.yaml` that is left over from a former layout of the repository.
///
/// Such a file is in the directory that another `gotk-sync.yaml` syncs from the same repository, but its path implies a
/// different root of that repository, or it has no source. The outer file determines the root.
pub(super) fn remove_left_over(tree: &Tree, candidates: &mut Vec<RootCandidate>) {
    let syncs = candidates.iter().filter(|one| one.kind == CandidateKind::Sync);
    let known = syncs
        .filter_map(|one| Some((one.synced(tree)?, (repository(&one.objects)?, one.prefix(tree)?), one.home.clone())));
    // A fleet has a sync for each cluster, so a comparison of all pairs would take quadratic time. One of two homes differs
    // from any other home.
    let mut by_folder: BTreeMap<String, BTreeMap<(String, String), Vec<String>>> = BTreeMap::new();
    for (synced, source, home) in known {
        let homes = by_folder.entry(synced).or_default().entry(source).or_default();
        if homes.len() < 2 && !homes.contains(&home) {
            homes.push(home);
        }
    }
    candidates.retain(|one| {
        if one.kind != CandidateKind::Sync {
            return true;
        }
        let prefix = one.prefix(tree).unwrap_or_default();
        let has_source = one.objects.iter().any(is_source);
        let own = repository(&one.objects);
        let is_left_over = |((of, outer), homes): (&(String, String), &Vec<String>)| {
            let is_below = prefix != *outer && is_inside(&prefix, outer);
            let is_copy = is_below && own.as_ref() == Some(of);
            homes.iter().any(|home| one.home != *home) && (is_copy || !has_source)
        };
        let outer = folders_around(&one.home).filter_map(|folder| by_folder.get(folder));
        !outer.flatten().any(is_left_over)
    });
}

/// Removes the roots in copies of the repository, such as the directory of a support bundle. Returns the directories of
/// the removed roots.
///
/// A copy contains a root that syncs the same path of the same repository, but the root of that repository is outside of
/// the copy.
pub(super) fn remove_copies(tree: &Tree, candidates: &mut Vec<RootCandidate>) -> Vec<String> {
    let sync_of = |one: &RootCandidate| Some((repository(&one.objects)?, clamp(&one.path)));
    let mut prefixes: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for one in candidates.iter() {
        if let (Some(sync), Some(prefix)) = (sync_of(one), one.prefix(tree)) {
            prefixes.entry(sync).or_default().insert(prefix);
        }
    }
    let is_copy = |one: &RootCandidate| {
        let (Some(sync), Some(prefix)) = (sync_of(one), one.prefix(tree)) else { return false };
        let Some(known) = prefixes.get(&sync).filter(|_| !sync.1.is_empty() && !prefix.is_empty()) else {
            return false;
        };
        folders_around(folder_of(&prefix)).any(|outer| known.contains(outer))
    };
    candidates.extract_if(.., |one| is_copy(one)).map(|one| one.home).collect()
}

/// A directory and the directories that contain it, up to the root of the repository.
fn folders_around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| (!folder.is_empty()).then(|| folder_of(folder)))
}

/// Returns whether a candidate is a template, according to its directory or a placeholder in its path or source.
fn is_unfilled(tree: &Tree, candidate: &RootCandidate) -> bool {
    let has_placeholder = candidate.path.split('/').any(is_placeholder) && candidate.synced(tree).is_none();
    let source = candidate.objects.last().and_then(|object| object.text_at(&["spec", "sourceRef", "name"]));
    is_template(&candidate.home)
        || has_placeholder
        || candidate.home.split('/').any(is_placeholder)
        || source.is_some_and(is_placeholder)
}

/// The directory of the cluster that contains a bootstrap, without generic directories such as `flux-system`.
fn cluster_folder(home: &str) -> &str {
    let name = |folder: &'_ str| folder.rsplit('/').next().unwrap_or(folder).to_string();
    let mut folder = home;
    while !folder.is_empty() && is_generic(&name(folder)) && name(folder_of(folder)) != CLUSTERS {
        folder = folder_of(folder);
    }
    folder
}

/// Returns whether a bootstrap is in the directory of another cluster beside `folder`, or at the same depth below
/// `clusters`.
pub(super) fn is_beside(home: &str, folder: &str) -> bool {
    let own = cluster_folder(home);
    let depth = |path: &str| Some((base_of(path)?.to_string(), path.split('/').count()));
    let is_near = folder_of(own) == folder_of(folder) || depth(own).is_some_and(|own| depth(folder) == Some(own));
    is_near && !own.is_empty() && own != folder
}

/// Removes the roots that sync the directories of other clusters.
///
/// A root outside of the directory that it syncs may not exist, so it removes no root that contains itself.
pub(super) fn remove_overlaps(
    tree: &Tree,
    includers: &Includers,
    coverage: &Coverage<'_>,
    candidates: &mut Vec<RootCandidate>,
) -> Vec<Overlap> {
    let mut overlaps = copies(tree, candidates);
    let synced: Vec<Option<String>> = candidates.iter().map(|one| one.synced(tree)).collect();
    let mut by_folder: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, folder) in synced.iter().enumerate() {
        if let Some(folder) = folder {
            by_folder.entry(folder).or_insert(at);
        }
    }
    let mut removed: BTreeSet<usize> = BTreeSet::new();
    for (at, one) in candidates.iter().enumerate().filter(|(_, one)| one.kind != CandidateKind::Declared) {
        let Some(folder) = &synced[at] else { continue };
        let below = by_folder.range(folder.as_str()..).take_while(|(other, _)| is_inside(other, folder));
        let below = below.filter(|(other, _)| **other != folder.as_str());
        let reached: Vec<&RootCandidate> = below
            .map(|(_, other)| &candidates[*other])
            .filter(|other| other.kind != CandidateKind::Declared && reaches(includers, tree, folder, other))
            .collect();
        let is_removed = || {
            let is_sure = |other: &&RootCandidate| contains_itself(tree, coverage, other);
            !contains_itself(tree, coverage, one) || reached.iter().any(is_sure)
        };
        if !reached.is_empty() && !is_own_folder(one, folder) && is_removed() {
            overlaps.push(contains_others(one, folder, &reached, tree));
            removed.insert(at);
        }
    }
    let mut at = 0;
    candidates.retain(|_| {
        at += 1;
        !removed.contains(&(at - 1))
    });
    overlaps
}

/// Returns whether a root syncs the directory of its own cluster. Flux applies the directory, whatever further bootstraps
/// it contains.
pub(super) fn is_own_folder(one: &RootCandidate, folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or_default();
    let home = one.home.strip_suffix("/flux-system").unwrap_or(&one.home);
    (one.is_bootstrap() || one.is_of_operator()) && home == folder && !folder.is_empty() && !is_generic(name)
}

/// Returns whether a root that syncs a directory applies the objects of another root.
fn reaches(includers: &Includers, tree: &Tree, folder: &str, other: &RootCandidate) -> bool {
    let synced = || other.synced(tree).is_some_and(|synced| includers.reaches(folder, &synced));
    includers.reaches(folder, other.file.path()) || synced()
}

/// Removes the roots that sync the directory of another root, since the other root syncs that directory already.
fn copies(tree: &Tree, candidates: &mut Vec<RootCandidate>) -> Vec<Overlap> {
    let mut owners: BTreeMap<String, Span> = BTreeMap::new();
    for one in candidates.iter() {
        // The file of a Kustomization in a build may be a base of several clusters.
        let place = || if one.kind == CandidateKind::SelfApplied { one.place() } else { one.file.first_line() };
        if let Some(folder) = one.synced(tree).filter(|folder| is_inside(&one.home, folder)) {
            owners.entry(folder).or_insert_with(place);
        }
    }
    let mut overlaps = Vec::new();
    candidates.retain(|one| {
        let Some(folder) = one.synced(tree).filter(|_| one.kind != CandidateKind::Declared) else { return true };
        let own = cluster_folder(&one.home);
        let Some(owner) = owners.get(&folder).filter(|_| is_beside(&one.home, &folder)) else { return true };
        let name = |path: &str| {
            let below = base_of(path).and_then(|base| path.get(base.len() + 1..));
            below.or_else(|| path.rsplit('/').next()).unwrap_or(path).to_string()
        };
        let message = format!(
            "cluster `{}` syncs `{folder}`, the directory of cluster `{}`, and no cluster syncs `{own}`",
            name(own),
            name(&folder)
        );
        let help = format!(
            "set the path to `./{own}`, or delete that directory if `{}` is a copy of the other cluster: both clusters \
            apply everything in `{folder}`",
            name(own)
        );
        let finding = Finding::error(OVERLAPPING_SYNC, one.place(), message).help(help);
        let mut finding = finding.related(owner.clone(), "the sync of the other cluster");
        finding.severity = Severity::Warning;
        finding.object = one.objects.last().map(crate::kube::Object::reference);
        overlaps.push(Overlap { finding, folder: own.to_string() });
        false
    });
    overlaps
}

fn contains_others(one: &RootCandidate, folder: &str, others: &[&RootCandidate], tree: &Tree) -> Overlap {
    let folders: Vec<String> =
        others.iter().filter_map(|other| other.synced(tree)).map(|folder| format!("`{folder}`")).collect();
    let shown = folders.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = folders.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let own = if folder.is_empty() { "." } else { folder };
    let what = one.objects.last().map(|object| object.reference().to_string()).unwrap_or_default();
    let directories = if folders.len() == 1 { "the directory" } else { "the directories" };
    let message = format!("{what} syncs `{own}`, which contains {directories} of other clusters: {shown}{more}");
    let help = "set the path to the directory of one cluster, or delete this sync if no cluster uses it: Flux would \
                apply the objects of the other clusters to this cluster. The linter does not build this sync";
    let mut finding = Finding::error(OVERLAPPING_SYNC, one.place(), message).help(help);
    for other in others.iter().take(MAX_NAMED) {
        finding = finding.related(other.place(), "the sync of the other cluster");
    }
    finding.severity = Severity::Warning;
    finding.object = one.objects.last().map(crate::kube::Object::reference);
    Overlap { finding, folder: one.home.clone() }
}
