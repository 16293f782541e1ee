//! The search for roots.

use std::cell::LazyCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::applied_by_hand::{applied_by_hand, applied_by_hand_in, of_clusters, of_terraform, with_source_of_cli};
use super::candidate::{CandidateKind, RootCandidate, base_of, correct_prefixes};
use super::cluster_folders::{Bootstraps, cluster_folders, folders_of_releases};
use super::coverage::{Coverage, WrittenSync, contains_itself, source_of};
use super::declared::declare;
use super::evidence::RootEvidence;
use super::former::mark_former;
use super::names::{ONLY, is_only_generic, names};
use super::namespaces::{set_namespaces, set_namespaces_of_kustomizations};
use super::of_charts::remove_of_charts;
use super::overlaps::{Overlap, is_moved, remove_copies, remove_left_over, remove_overlaps, remove_unused};
use super::parts::{add_sources_by_hand, join_parts};
use super::repository::{most_common, repository};
use super::root::{Root, is_of, synced_source};
use super::self_applied::self_applied;
use super::variable_path::expand;
use super::written::{of_resource_sets, written};
use crate::base::set_aside::{is_former, is_set_aside};
use crate::config::DeclaredRoot;
use crate::flux::install::includers::Includers;
use crate::flux::install::installation::COMPONENTS_FILE;
use crate::flux::install::kustomizations::KustomizationFile;
use crate::flux::object::kinds::is_source;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::source::Exclusions;
use crate::flux::source::reference::SourceRef;
use crate::kube::groups;
use crate::kube::groups::SYNC_FILE;
use crate::kustomize::Builder;
use crate::text::{Tree, folder_of, is_inside};
use crate::yaml::Name;

/// The roots of a repository.
#[derive(Default)]
pub(crate) struct Roots {
    /// The roots, sorted by name.
    pub(crate) found: Vec<Root>,
    /// The excluded roots, which sync the directories of other clusters or the files of Helm charts.
    pub(crate) overlaps: Vec<Overlap>,
    /// The sources of the FluxInstances that no object applies yet.
    pub(crate) prepared: Vec<SourceRef>,
}

/// Finds the roots of a tree.
pub(crate) fn roots(builder: &Builder, kustomizations: &[KustomizationFile], declared: &[DeclaredRoot]) -> Roots {
    let (files, tree) = (builder.files(), builder.files().tree());
    let includers = Includers::new(tree, kustomizations);
    let mut candidates = expand(builder, written(builder, &includers));
    let mut coverage = Coverage::new(files, &includers);
    set_namespaces(tree, &coverage, &mut candidates);
    remove_unprepared(tree, &coverage, &mut candidates);
    remove_samples(&mut candidates);
    remove_left_over(tree, &mut candidates);
    remove_without_source(tree, &includers, &mut coverage, &mut candidates);
    let mut copied = remove_copies(tree, &mut candidates);
    copied.extend(candidates.iter().filter(|one| is_moved(tree, one)).map(|one| one.home.clone()));
    remove_unused(tree, &coverage, &mut candidates);
    correct_prefixes(tree, &mut candidates);
    let of_charts = remove_of_charts(builder, &mut candidates);
    declare(tree, &coverage, declared, &mut candidates);
    let prepared = remove_parked(builder, &includers, &mut coverage, &mut candidates);
    coverage.add(tree, candidates.iter());
    let mut by_hand = self_applied(builder, &includers, &coverage);
    by_hand.retain(|one| one.synced(tree).is_none_or(|folder| !coverage.overlaps(&folder)));
    remove_of_others(tree, &coverage, &candidates, &mut by_hand);
    candidates.extend(by_hand);
    remove_unused(tree, &coverage, &mut candidates);
    let mut overlaps = remove_overlaps(tree, &includers, &coverage, &mut candidates);
    overlaps.extend(of_charts);
    let of_sets = of_resource_sets(builder);
    coverage.add(tree, candidates.iter().chain(&of_sets));
    let is_alone = candidates.is_empty();
    let mut folders = cluster_folders(builder, &includers, &coverage, is_alone);
    // A directory that contains another candidate is not a root, even if the synced path of that candidate is missing.
    let others = candidates.iter().map(|one| &one.home).chain(overlaps.iter().map(|one| &one.folder)).chain(&copied);
    let has_other = |folder: &RootCandidate| others.clone().any(|other| is_inside(other, &folder.home));
    folders.retain(|folder| !has_other(folder));
    let bootstraps = Bootstraps::of(tree, &coverage, &candidates);
    folders.retain(|folder| !bootstraps.are_in(builder, &includers, &folder.home));
    // A Kustomization beside its source is better evidence than the name of a directory.
    let by_hand = |folder: &RootCandidate| applied_by_hand_in(builder, &includers, &coverage, &folder.home);
    candidates.extend(folders.into_iter().map(|folder| by_hand(&folder).unwrap_or(folder)));
    if candidates.is_empty() && overlaps.is_empty() && copied.is_empty() {
        candidates.extend(of_clusters(builder, &coverage));
    }
    if candidates.is_empty() && overlaps.is_empty() && copied.is_empty() {
        let by_hand = applied_by_hand(builder, &includers, &coverage);
        candidates.extend(by_hand.or_else(|| with_source_of_cli(tree, &coverage)));
        if candidates.is_empty() {
            candidates.extend(of_terraform(builder));
        }
    }
    coverage.add(tree, candidates.iter());
    let others: Vec<String> = candidates.iter().map(|one| &one.home).chain(&copied).cloned().collect();
    let is_other = |folder: &RootCandidate| {
        let overlaps = overlaps.iter().map(|one| &one.folder);
        others.iter().chain(overlaps).any(|other| is_inside(other, &folder.home))
    };
    let bootstraps = Bootstraps::of(tree, &coverage, &candidates);
    let mut of_releases = folders_of_releases(builder, &includers, &coverage);
    of_releases.retain(|one| !is_other(one) && !bootstraps.are_in(builder, &includers, &one.home));
    candidates.extend(of_releases);
    candidates.extend(of_sets);
    join_parts(tree, &coverage, &mut candidates);
    add_sources_by_hand(builder, &includers, &coverage, &mut candidates);
    set_namespaces_of_kustomizations(tree, &coverage, &mut candidates);
    let own = own_repositories(tree, &coverage, &candidates);
    let mut roots = settle(tree, &coverage, candidates, &own);
    mark_former(&mut roots, tree, &coverage, declared);
    Roots { found: roots, overlaps, prepared }
}

/// Removes the roots that `flux bootstrap` will write, if their directory has no Kustomization yet.
///
/// The usual name of the directory of a bootstrap is sufficient evidence. A directory with another name may only be a
/// left-over copy. A directory that contains the bootstrap of a cluster is not the directory of another one; Terraform may
/// read the kustomization of the future files.
fn remove_unprepared(tree: &Tree, coverage: &Coverage<'_>, candidates: &mut Vec<RootCandidate>) {
    let written = candidates.iter().filter(|one| one.kind != CandidateKind::ToCome);
    let written: Vec<String> = written.filter_map(|one| one.synced(tree)).collect();
    candidates.retain(|one| {
        let home = folder_of(one.file.path());
        let folder = folder_of(home);
        if one.kind == CandidateKind::ToCome && written.iter().any(|other| is_inside(other, folder)) {
            return false;
        }
        let is_usual = home.rsplit('/').next() == Some(groups::FLUX_NAMESPACE);
        let has_sync =
            || coverage.syncs.iter().any(|sync| is_inside(&sync.file, folder) && !is_inside(&sync.file, home));
        one.kind != CandidateKind::ToCome || is_usual || has_sync()
    });
}

/// Removes each `gotk-sync.yaml` whose Kustomization uses another source than the file defines, if the synced directory
/// does not contain the file and uses the defined source. A cluster that applied this file would never become ready, so
/// it has another root.
fn remove_without_source(
    tree: &Tree,
    includers: &Includers,
    coverage: &mut Coverage<'_>,
    candidates: &mut Vec<RootCandidate>,
) {
    let is_unused = |one: &RootCandidate| {
        let Some(sync) = one.objects.last().filter(|_| one.kind == CandidateKind::Sync) else { return false };
        let sources = || one.objects.iter().filter(|object| is_source(object));
        let Some(folder) = one.synced(tree).filter(|_| !sources().any(|source| is_of(sync, source))) else {
            return false;
        };
        let inside = || coverage.syncs.iter().filter(|sync| includers.reaches(&folder, &sync.file));
        let uses_defined = |sync: &WrittenSync| sources().any(|source| is_of(&sync.object, source));
        !includers.reaches(&folder, one.file.path()) && inside().next().is_some() && inside().all(uses_defined)
    };
    let unused: BTreeSet<String> =
        candidates.iter().filter(|one| is_unused(one)).map(|one| one.file.path().to_owned()).collect();
    candidates.retain(|one| !unused.contains(one.file.path()));
    coverage.remove_files(&unused);
}

/// Removes the FluxInstances in directories of examples and tests that sync other repositories, if there are other
/// roots.
fn remove_samples(candidates: &mut Vec<RootCandidate>) {
    let own: BTreeSet<Option<String>> =
        candidates.iter().filter(|one| !is_aside(one)).map(|one| repository(&one.objects)).collect();
    let is_sample = |one: &RootCandidate| {
        let repository = repository(&one.objects);
        one.is_of_operator() && repository.is_some() && is_aside(one) && !own.contains(&repository)
    };
    candidates.retain(|one| own.is_empty() || !is_sample(one));
}

/// The repositories of the roots whose synced directories contain or apply their own files, one for each root. A copy of a
/// root in a directory of examples counts only if there is no other such root.
fn own_repositories(tree: &Tree, coverage: &Coverage<'_>, candidates: &[RootCandidate]) -> Vec<String> {
    let repositories = |aside: bool| -> Vec<String> {
        let own = candidates.iter().filter(|one| is_aside(one) == aside && contains_itself(tree, coverage, one));
        own.filter_map(|one| repository(&one.objects)).collect()
    };
    let own = repositories(false);
    if own.is_empty() { repositories(true) } else { own }
}

/// Removes the candidates that sync another repository than the roots in this tree. Repositories often have the same
/// directories, one for each cluster.
fn remove_of_others(
    tree: &Tree,
    coverage: &Coverage<'_>,
    roots: &[RootCandidate],
    candidates: &mut Vec<RootCandidate>,
) {
    let own = own_repositories(tree, coverage, roots);
    let is_own = |one: &RootCandidate| repository(&one.objects).is_none_or(|name| own.contains(&name));
    candidates.retain(|one| own.is_empty() || is_own(one));
}

/// Returns whether a candidate is in a directory that clusters do not apply, such as a directory of examples.
fn is_aside(one: &RootCandidate) -> bool {
    is_set_aside(folder_of(one.file.path()), |_| false)
}

/// Marks the roots that sync another repository than the tree. The tree may contain a directory at the path of such a root,
/// but not the directory that the root syncs.
///
/// `own` are the repositories of the roots that contain themselves. A root with one of these repositories is never marked:
/// otherwise, a few files that nothing applies could hide a cluster. But only the most common repository is certainly the
/// repository of the tree.
fn mark_others(roots: &mut [Root], declared: &BTreeSet<Name>, own: &[String]) {
    let names: Vec<Option<String>> = roots.iter().map(|root| repository(&root.objects)).collect();
    let of_roots = || most_common(names.iter().flatten().map(String::as_str));
    let Some(usual) = most_common(own.iter().map(String::as_str)).or_else(of_roots) else { return };
    for (root, name) in roots.iter_mut().zip(&names) {
        let is_unusual = !declared.contains(&root.name) && name.as_deref().is_some_and(|name| name != usual);
        let contains_itself = name.as_ref().is_some_and(|name| own.contains(name));
        root.syncs_other = is_unusual && !contains_itself;
        root.evidence.may_have_more_files |= is_unusual && contains_itself;
        root.is_own &= !is_unusual;
    }
}

/// Removes the FluxInstances that no object applies yet, if a Kustomization that applies itself also applies the
/// directories that they sync.
///
/// Such a FluxInstance prepares a migration to Flux Operator. Until the migration, the cluster has the root with which
/// it was bootstrapped. After the migration, the Kustomizations of the synced directory use the source of the
/// FluxInstance. The result is the sources of the removed FluxInstances.
fn remove_parked(
    builder: &Builder,
    includers: &Includers,
    coverage: &mut Coverage<'_>,
    candidates: &mut Vec<RootCandidate>,
) -> Vec<SourceRef> {
    let tree = builder.files().tree();
    let is_parked = |one: &RootCandidate, coverage: &Coverage<'_>| {
        one.is_of_operator() && one.synced(tree).is_some_and(|folder| !coverage.leads(&folder, one.file.path()))
    };
    let parked: Vec<bool> = candidates.iter().map(|one| is_parked(one, coverage)).collect();
    if !parked.contains(&true) {
        return Vec::new();
    }
    coverage.add(tree, candidates.iter().zip(&parked).filter(|(_, parked)| !**parked).map(|(one, _)| one));
    let by_hand = self_applied(builder, includers, coverage);
    let bootstrapped: Vec<(String, Option<SourceRef>)> = by_hand
        .iter()
        .filter(|one| !lacks_components(tree, one))
        .filter_map(|one| Some((one.synced(tree)?, one.objects.last().and_then(source_of))))
        .filter(|(folder, _)| !coverage.overlaps(folder))
        .collect();
    let is_replaced = |one: &RootCandidate| {
        let source = one.objects.last().and_then(synced_source);
        let is_used = |synced: &str| {
            let mut inside = coverage.syncs.iter().filter(|sync| is_inside(&sync.file, synced));
            inside.any(|sync| source_of(&sync.object) == source)
        };
        let replaces = |(folder, own): &(String, Option<SourceRef>), synced: &str| {
            is_inside(synced, folder) && (*own == source || !is_used(synced))
        };
        one.synced(tree).is_some_and(|synced| bootstrapped.iter().any(|by| replaces(by, &synced)))
    };
    let mut parked = parked.into_iter();
    let removed = candidates.extract_if(.., |one| parked.next() == Some(true) && is_replaced(one));
    removed.filter_map(|one| one.objects.last().and_then(synced_source)).collect()
}

/// Returns whether a `gotk-sync.yaml` has no `gotk-components.yaml` beside it. `flux bootstrap` writes both files.
fn lacks_components(tree: &Tree, one: &RootCandidate) -> bool {
    let path = one.file.path();
    path.rsplit('/').next() == Some(SYNC_FILE) && !tree.has_file(&below(folder_of(path), COMPONENTS_FILE))
}

/// Returns whether a FluxInstance outside of the directory that it syncs has another namespace than a bootstrap inside. It is not
/// the successor of the bootstrap, and its namespace may be that of a tenant.
fn is_of_other_namespace(tree: &Tree, coverage: &Coverage<'_>, instance: &RootCandidate, own: &RootCandidate) -> bool {
    instance.is_of_operator()
        && own.is_bootstrap()
        && instance.namespace() != own.namespace()
        && !contains_itself(tree, coverage, instance)
        && contains_itself(tree, coverage, own)
}

/// Resolves the synced directories of candidates, keeps one candidate for each directory, and names the roots.
fn settle(tree: &Tree, coverage: &Coverage<'_>, mut candidates: Vec<RootCandidate>, own: &[String]) -> Vec<Root> {
    // A directory of former files may contain a copy of a root. A file that no cluster applies never replaces the root of
    // the repository.
    candidates.sort_by_cached_key(|one| {
        let is_outside = !contains_itself(tree, coverage, one);
        // A FluxInstance of an artifact has no repository that shows whether it is of this tree.
        let is_of_own = repository(&one.objects).map_or(!one.is_of_operator(), |name| own.contains(&name));
        let is_of_other = is_outside && !is_of_own;
        let is_former = is_former(&one.home) && one.kind != CandidateKind::Declared;
        (is_former, is_of_other, one.kind, is_outside, one.file.path().to_owned())
    });
    let mut found: BTreeMap<(Option<String>, String), RootCandidate> = BTreeMap::new();
    for candidate in candidates {
        let (path, prefix) = (clamp(&candidate.path), candidate.prefix(tree));
        // Roots without a synced directory in the tree differ by their own files.
        let of = if candidate.synced(tree).is_some() { path } else { below(&path, candidate.file.path()) };
        match found.entry((prefix, of)) {
            Entry::Vacant(entry) => {
                entry.insert(candidate);
            }
            Entry::Occupied(mut entry) if is_of_other_namespace(tree, coverage, entry.get(), &candidate) => {
                entry.insert(candidate);
            }
            Entry::Occupied(_) => {}
        }
    }
    let folders: Vec<String> = found.values().map(|root| named_after(tree, root)).collect();
    let names = names(&folders);
    let declared = found.values().filter(|one| one.kind == CandidateKind::Declared);
    let declared: BTreeSet<Name> = declared.filter_map(|one| one.name.clone()).collect();
    let has_bootstrap = found.values().any(|one| one.kind != CandidateKind::Folder);
    let exclusions = LazyCell::new(|| Exclusions::of_tree(tree));
    // If the source excludes the directory of a cluster, the cluster is not bootstrapped yet.
    let is_excluded = |one: &RootCandidate, folder: &str| {
        matches!(one.kind, CandidateKind::ToCome | CandidateKind::Folder)
            && tree.under(folder).all(|path| exclusions.contain(path))
    };
    let roots = found.into_iter().zip(names).map(|(((prefix, _), candidate), name)| {
        let synced = candidate.synced(tree);
        let path_exists = synced.is_some();
        Root {
            path_exists,
            is_declared: candidate.kind == CandidateKind::Declared,
            evidence: RootEvidence {
                is_assumed: candidate.has_alternatives
                    || (candidate.kind == CandidateKind::ByHand && base_of(&candidate.home).is_none())
                    || (has_bootstrap && candidate.kind == CandidateKind::Folder)
                    || synced.as_ref().is_some_and(|folder| is_excluded(&candidate, folder)),
                may_have_more_files: candidate.is_of_other_revision,
                lacks_bootstrap: !has_bootstrap,
                is_generated: candidate.kind == CandidateKind::Folder,
                is_to_come: candidate.kind == CandidateKind::ToCome,
            },
            keeps_source: candidate.keeps_source,
            further_sources: candidate.further_sources,
            is_own: path_exists || candidate.kind == CandidateKind::Declared,
            syncs_other: false,
            name: candidate.name.unwrap_or_else(|| name.into()),
            folder: synced.unwrap_or(candidate.home),
            objects: candidate.objects,
            findings: candidate.findings,
            controller: candidate.controller,
            prefix,
        }
    });
    let mut roots: Vec<Root> = roots.collect();
    mark_others(&mut roots, &declared, own);
    roots.sort_by(|a, b| a.name.cmp(&b.name));
    roots
}

/// The directory that determines the name of a cluster.
fn named_after(tree: &Tree, root: &RootCandidate) -> String {
    let path = below(&root.prefix(tree).unwrap_or_default(), &clamp(&root.path));
    let is_missing = root.is_bootstrap() && !tree.has_folder(&path);
    let whole = if is_missing || root.has_parts { folder_of(root.file.path()).to_string() } else { path };
    // The directory `flux-system` is not part of the name.
    let trimmed = without_flux(&whole);
    // A path with only generic names does not name the cluster; the directory of the bootstrap may.
    let home = without_flux(folder_of(root.file.path()));
    let is_named =
        root.is_bootstrap() && is_only_generic(trimmed) && !is_only_generic(home) && is_inside(home, trimmed);
    let named = if is_named { home } else { trimmed };
    if named.is_empty() { ONLY.to_string() } else { named.to_string() }
}

fn without_flux(folder: &str) -> &str {
    folder.strip_suffix("/flux-system").unwrap_or(folder)
}
