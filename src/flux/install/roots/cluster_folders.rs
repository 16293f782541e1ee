//! Directories of Kustomizations that no object applies, since `flux bootstrap` has not run yet, or since a platform
//! configures Flux elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{CandidateKind, RootCandidate, base_of, best_prefix, prefixes};
use super::coverage::{Coverage, WrittenSync, is_remote, source_of};
use super::names::{self, CLUSTERS, is_placeholder};
use super::root::is_of;
use super::self_applied;
use super::synthetic_sync::{bootstrap_source, sync_of};
use crate::base::set_aside::{is_former, is_set_aside};
use crate::flux::classify::objects;
use crate::flux::install::includers::Includers;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::object::synthetic_node::text;
use crate::flux::source::Exclusions;
use crate::flux::source::reference::SourceRef;
use crate::kube::groups::SYNC_FILE;
use crate::kube::{Object, groups};
use crate::kustomize::Builder;
use crate::text::{File, Index, Tree, folder_of, is_inside};

/// The Kustomizations of each directory that no other Kustomization applies.
type Units<'a> = BTreeMap<&'a str, Vec<&'a WrittenSync>>;

/// Candidates for the directories of clusters: directories below `clusters`, and directories beside the directory of a
/// root that define the same Kustomizations. If there are no such directories and the repository has no other root, the
/// candidates are sibling directories that define the same Kustomizations.
pub(super) fn cluster_folders(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
    is_alone: bool,
) -> Vec<RootCandidate> {
    let tree = builder.files().tree();
    let mut units: Units<'_> = BTreeMap::new();
    for sync in &coverage.syncs {
        for unit in &sync.units {
            units.entry(unit).or_default().push(sync);
        }
    }
    units.retain(|unit, syncs| {
        let is_part_name = |name: &str| names::is_part(name) || is_placeholder(name);
        let is_part = includers.is_component(unit) || unit.split('/').any(is_part_name);
        let is_unit = syncs.iter().any(|sync| sync.is_loose) || includers.is_buildable(unit);
        // A cluster may be called `backup`, so the name alone is not enough.
        let is_missing = |sync: &&WrittenSync| {
            sync.object
                .text_at(&["spec", "path"])
                .is_some_and(|path| !path.contains('$') && !tree.has_folder(&clamp(path)))
        };
        let is_old = is_former(unit) && syncs.iter().all(is_missing);
        let is_aside = is_old || is_set_aside(unit, is_cluster);
        is_unit && !is_part && !is_aside && !coverage.overlaps(unit) && !coverage.covers(unit)
    });
    let mut found: BTreeSet<String> = BTreeSet::new();
    let bases: BTreeSet<&str> = units.keys().filter_map(|unit| base_of(unit)).collect();
    for base in &bases {
        split(base, &units, &mut found);
    }
    if found.is_empty() && is_alone {
        let parents: BTreeSet<&str> = units.keys().map(|unit| folder_of(unit)).collect();
        for parent in parents {
            let children = children(parent, &units);
            if children.len() > 1 && are_alike(&children) && may_be_of_clusters(builder, includers, &children) {
                found.extend(children.into_keys());
            }
        }
        found.extend(beside_parents(&found, &units));
    }
    found.extend(beside_roots(&units, coverage));
    found.retain(|folder| !coverage.overlaps(folder) && !coverage.enters(folder));
    let found: BTreeSet<String> = found.into_iter().map(|folder| synced_part(folder, &units, coverage)).collect();
    found.iter().map(|folder| candidate(builder, includers, folder, &units, coverage)).collect()
}

/// Candidates for the directories directly below `clusters` whose kustomizations contain HelmReleases, but no Kustomizations, and
/// that no object applies and no other kustomization includes. Another platform configures Flux, or another program
/// applies the directories, so that the clusters are not certain.
pub(super) fn folders_of_releases(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
) -> Vec<RootCandidate> {
    let units: BTreeSet<&str> = coverage.syncs.iter().flat_map(|sync| &sync.units).map(String::as_str).collect();
    let has_sync = |folder: &str| units.range(folder..).next().is_some_and(|unit| is_inside(unit, folder));
    let is_part = |name: &str| names::is_part(name) || is_placeholder(name);
    let folders = includers.buildable_tops().filter(|folder| {
        is_cluster(folder)
            && !folder.split('/').any(is_part)
            && !is_former(folder)
            && !is_set_aside(folder, is_cluster)
            && !has_sync(folder)
            && !coverage.overlaps(folder)
            && !coverage.covers(folder)
            && !coverage.enters(folder)
    });
    let is_release = |object: &Object| object.is(groups::HELM, "HelmRelease");
    let found = folders.filter(|folder| builder.build(folder).objects.iter().any(is_release));
    let candidate = |folder| candidate(builder, includers, folder, &BTreeMap::new(), coverage);
    found.map(|folder| RootCandidate { has_alternatives: true, ..candidate(folder) }).collect()
}

/// Returns whether a directory is in `clusters`, where the directory of a cluster may have any name.
fn is_cluster(folder: &str) -> bool {
    folder_of(folder).rsplit('/').next() == Some(CLUSTERS)
}

/// The Kustomizations below each child of a directory.
fn children<'a>(parent: &str, units: &Units<'a>) -> BTreeMap<String, Vec<&'a WrittenSync>> {
    let mut children: BTreeMap<String, Vec<&'a WrittenSync>> = BTreeMap::new();
    for (unit, syncs) in units.iter().filter(|(unit, _)| is_inside(unit, parent) && **unit != parent) {
        let rest = if parent.is_empty() { Some(*unit) } else { unit.get(parent.len() + 1..) };
        let Some(child) = rest.and_then(|rest| rest.split('/').next()) else { continue };
        children.entry(below(parent, child)).or_default().extend(syncs);
    }
    children
}

/// Returns whether two of these directories define the same Kustomization, so that one cluster does not apply both.
fn are_alike(children: &BTreeMap<String, Vec<&WrittenSync>>) -> bool {
    let mut seen: Index<(Option<&str>, &str), &str> = Index::default();
    children.iter().any(|(child, syncs)| {
        syncs.iter().any(|sync| seen.insert(identity(sync), child).is_some_and(|other| other != child))
    })
}

/// Returns whether these directories may belong to clusters, and are not variants of a package.
///
/// A package contains a source of another repository, and Kustomizations that apply the same directories of this source in
/// each variant. Clusters of other repositories apply the package.
fn may_be_of_clusters(
    builder: &Builder,
    includers: &Includers,
    children: &BTreeMap<String, Vec<&WrittenSync>>,
) -> bool {
    let syncs = || children.values().flatten();
    if syncs().any(|sync| sync.target.is_some()) {
        return true;
    }
    let units: BTreeSet<&str> = syncs().flat_map(|sync| &sync.units).map(String::as_str).collect();
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for unit in units {
        let is_buildable = includers.is_buildable(unit);
        let objects = if is_buildable { builder.build(unit).objects } else { objects_in(builder, unit) };
        for object in objects.iter().filter(|object| is_kustomization(object)) {
            if !objects.iter().any(|source| is_source(source) && is_of(object, source)) {
                return true;
            }
            let path = clamp(object.text_at(&["spec", "path"]).unwrap_or_default());
            if paths.insert(object.name().to_owned(), path.clone()).is_some_and(|other| other != path) {
                return true;
            }
        }
    }
    // An artifact may contain a part of the tree. Many directories have a name without further parts, such as `default`.
    let paths: BTreeSet<String> = paths.into_values().filter(|path| path.contains('/')).collect();
    let contains = |file: &str| prefixes(folder_of(file)).any(|folder| ends_with_one(folder, &paths));
    !paths.is_empty() && builder.files().tree().entries().any(|(file, _)| contains(file))
}

/// Returns whether a directory ends with one of several paths.
fn ends_with_one(folder: &str, paths: &BTreeSet<String>) -> bool {
    let ends = folder.match_indices('/').filter_map(|(at, _)| folder.get(at + 1..));
    std::iter::once(folder).chain(ends).any(|end| paths.contains(end))
}

/// The namespace and the name of a Kustomization.
fn identity(sync: &WrittenSync) -> (Option<&str>, &str) {
    (sync.object.namespace(), sync.object.name())
}

/// The directories beside the directories of roots that define a Kustomization of the root. A script or another
/// repository may apply these directories to further clusters.
fn beside_roots(units: &Units<'_>, coverage: &Coverage<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for root in coverage.synced().filter(|root| !root.is_empty()) {
        let inside = coverage.syncs.iter().filter(|sync| sync.units.iter().any(|unit| is_inside(unit, root)));
        let own: BTreeSet<_> = inside.map(identity).collect();
        let beside = children(folder_of(root), units).into_iter().filter(|(folder, _)| folder != root);
        let is_alike = |syncs: &[&WrittenSync]| syncs.iter().any(|sync| own.contains(&identity(sync)));
        let is_copy = |syncs: &[&WrittenSync]| syncs.iter().any(|sync| coverage.is_copy_of_root(sync, root));
        let alike = beside.filter(|(_, syncs)| is_alike(syncs) && !is_copy(syncs));
        found.extend(alike.map(|(folder, _)| folder));
    }
    found
}

/// The directories at the same depth as the directories of clusters, in a sibling of their parent, that define the same
/// Kustomization, such as `production/01` beside `staging/01` and `staging/02`.
fn beside_parents(found: &BTreeSet<String>, units: &Units<'_>) -> BTreeSet<String> {
    let parents: BTreeSet<&str> = found.iter().map(|folder| folder_of(folder)).collect();
    let mut by_grandparent: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for parent in parents.into_iter().filter(|parent| !folder_of(parent).is_empty()) {
        by_grandparent.entry(folder_of(parent)).or_default().insert(parent);
    }
    let mut beside = BTreeSet::new();
    for (grandparent, parents) in by_grandparent {
        let of_clusters = parents.iter().flat_map(|parent| children(parent, units));
        let of_clusters = of_clusters.filter(|(folder, _)| found.contains(folder));
        let own: BTreeSet<_> = of_clusters.flat_map(|(_, syncs)| syncs).map(identity).collect();
        for other in children(grandparent, units).into_keys().filter(|other| !parents.contains(other.as_str())) {
            let alike = children(&other, units).into_iter();
            let alike = alike.filter(|(_, syncs)| syncs.iter().any(|sync| own.contains(&identity(sync))));
            beside.extend(alike.map(|(folder, _)| folder));
        }
    }
    beside
}

/// Adds the directories of clusters below a directory. One cluster may also have several directories, but these define
/// different Kustomizations.
fn split(base: &str, units: &Units<'_>, found: &mut BTreeSet<String>) {
    for folder in children(base, units).into_keys() {
        if !units.contains_key(folder.as_str()) && are_alike(&children(&folder, units)) {
            split(&folder, units, found);
        } else {
            found.insert(folder);
        }
    }
}

/// The directory that the bootstrap of a cluster syncs: the only directory with Kustomizations, if these apply the other
/// directories of the cluster, or else the whole directory of the cluster.
fn synced_part(folder: String, units: &Units<'_>, coverage: &Coverage<'_>) -> String {
    let mut inside = units.keys().filter(|unit| is_inside(unit, &folder));
    let only = inside.next().filter(|_| inside.next().is_none());
    match only.filter(|unit| ***unit != folder && coverage.applies_part(unit, &folder)) {
        Some(unit) => (*unit).to_string(),
        None => folder,
    }
}

/// The candidate for a directory: the source that its Kustomizations share, and a Kustomization that applies the
/// directory.
fn candidate(
    builder: &Builder,
    includers: &Includers,
    folder: &str,
    units: &Units<'_>,
    coverage: &Coverage<'_>,
) -> RootCandidate {
    let inside = units.iter().filter(|(unit, _)| is_inside(unit, folder));
    let inside = inside.map(|(unit, syncs)| ((*unit).to_string(), syncs.clone())).collect();
    // A cluster applies a Kustomization once, so it applies only one of the directories that define it.
    let has_alternatives = are_alike(&inside);
    let of_build = includers.is_buildable(folder).then(|| self_applied::of_cluster(builder, folder)).flatten();
    let own = of_build.or_else(|| {
        let syncs = units.iter().filter(|(unit, _)| is_inside(unit, folder)).flat_map(|(_, syncs)| syncs);
        self_applied::of_files(builder, includers, folder, syncs.copied())
    });
    if let Some(own) = own {
        return RootCandidate { has_alternatives, ..own };
    }
    let mut objects: Vec<Object> = Vec::new();
    if includers.is_buildable(folder) {
        objects = builder.build(folder).objects;
    } else {
        for (unit, syncs) in units.iter().filter(|(unit, _)| is_inside(unit, folder)) {
            objects.extend(syncs.iter().map(|sync| sync.object.clone()));
            objects.extend(sources_in(builder, unit));
        }
    }
    let tree = builder.files().tree();
    let OwnSource { source, prefix, of_parts } = own_source(tree, folder, &objects, &coverage.other_sources(folder));
    let path = folder.get(prefix.len()..).unwrap_or_default().trim_start_matches('/').to_string();
    // The file that `flux bootstrap` will write.
    let cluster = folder.strip_suffix(groups::FLUX_NAMESPACE).map_or(folder, |above| above.trim_end_matches('/'));
    let file = File::new(format!("{cluster}/{}/{SYNC_FILE}", groups::FLUX_NAMESPACE), "");
    let place = file.first_line();
    // The Kustomization of the bootstrap does not have the name of another Kustomization that it applies.
    let is_other = |object: &Object| {
        let applied = object.text_at(&["spec", "path"]).map(clamp);
        let is_elsewhere = |applied: &String| *applied != path && tree.has_folder(&below(&prefix, applied));
        source_of(object).is_some_and(|own| own != source) || applied.as_ref().is_some_and(is_elsewhere)
    };
    let is_taken = |name: &str| {
        let mut kustomizations = objects.iter().filter(|object| is_kustomization(object));
        kustomizations.any(|object| object.name() == name && is_other(object))
    };
    let names = [&*source.name, cluster.rsplit('/').next().unwrap_or(cluster), groups::FLUX_NAMESPACE];
    let name = names.into_iter().find(|name| !is_taken(name)).unwrap_or("bootstrap");
    let objects = sync_of(&source, name, &text(&format!("./{path}"), &place), &place);
    let found = RootCandidate::new(CandidateKind::Folder, &file, objects, &path);
    RootCandidate {
        home: folder.to_string(),
        prefix: Some(prefix),
        has_alternatives,
        further_sources: of_parts,
        ..found
    }
}

/// The objects in the files of a directory.
pub(super) fn objects_in(builder: &Builder, folder: &str) -> Vec<Object> {
    let files = builder.files().tree().under(folder).filter(|path| folder_of(path) == folder);
    let parsed = files.filter_map(|path| builder.files().get(path));
    parsed.flat_map(|parsed| objects(&parsed).collect::<Vec<_>>()).collect()
}

/// The sources that the files of a directory define.
fn sources_in(builder: &Builder, folder: &str) -> Vec<Object> {
    let files = builder.files().tree().under(folder).filter_map(|path| builder.files().get(path));
    files.flat_map(|parsed| objects(&parsed).filter(is_source).collect::<Vec<_>>()).collect()
}

/// The source of a directory that is the repository itself.
struct OwnSource {
    source: SourceRef,
    /// The directory of the tree that is the root of the source.
    prefix: String,
    /// The sources of the repository that exclude the directory, each with the directory of the tree that is its root.
    of_parts: Vec<(Object, String)>,
}

/// The source that is the repository itself, among the sources of Kustomizations. Usually no file defines this source yet,
/// since `flux bootstrap` will create it. `others` are the sources of other repositories.
fn own_source(tree: &Tree, folder: &str, objects: &[Object], others: &BTreeSet<SourceRef>) -> OwnSource {
    let sources = objects.iter().filter(|object| is_source(object));
    let defined: BTreeSet<(&str, &str)> = sources.map(|source| (source.kind(), source.name())).collect();
    // The paths of the Kustomizations of each source.
    let mut used: BTreeMap<SourceRef, Vec<String>> = BTreeMap::new();
    for object in objects.iter().filter(|object| is_kustomization(object)) {
        // Flux itself creates an ExternalArtifact, so it cannot be the source of a bootstrap.
        let Some(source) = source_of(object).filter(|source| &*source.kind != "ExternalArtifact") else { continue };
        if others.contains(&source) {
            continue;
        }
        let path = object.text_at(&["spec", "path"]).unwrap_or_default();
        let paths = used.entry(source).or_default();
        paths.extend(Some(clamp(path)).filter(|path| !path.is_empty() && !path.contains('$')));
    }
    let mut of_parts = Vec::new();
    let rated = used.into_iter().filter_map(|(source, paths)| {
        let (prefix, count) = best_prefix(tree, folder, &paths);
        let is_defined = defined.contains(&(&*source.kind, &*source.name));
        let is_bootstrap = &*source.name == groups::FLUX_NAMESPACE;
        // A defined source is the repository if all paths exist. The address of the source is ignored, since the
        // repository may have moved.
        let is_own = if is_defined { count > 0 && count == paths.len() } else { count > 0 || is_bootstrap };
        let is_defining = |object: &&Object| object.kind() == &*source.kind && object.name() == &*source.name;
        let definition = objects.iter().filter(|object| is_source(object)).find(is_defining);
        if let Some(definition) = definition.filter(|object| is_own && excludes(tree, object, &prefix, folder)) {
            of_parts.push((definition.clone(), prefix));
            return None;
        }
        is_own.then_some(((!is_defined, count, is_bootstrap), source, prefix))
    });
    let best = rated.max_by_key(|(rate, ..)| *rate);
    let (source, prefix) = best.map_or_else(
        || (bootstrap_source(groups::FLUX_NAMESPACE), String::new()),
        |(_, source, prefix)| (source, prefix),
    );
    OwnSource { source, prefix, of_parts }
}

/// Returns whether a source excludes all files of a directory, so that it cannot be the source of this directory.
fn excludes(tree: &Tree, source: &Object, prefix: &str, folder: &str) -> bool {
    let Some(exclusions) = source.text_at(&["spec", "ignore"]).map(Exclusions::of_source) else { return false };
    let in_source = |path: &'_ str| path.get(prefix.len()..).unwrap_or_default().trim_start_matches('/').to_owned();
    tree.under(folder).all(|path| exclusions.contain(&in_source(path)))
}

/// The bootstraps of roots, by which a directory without a bootstrap is known to be no cluster.
///
/// A cluster that receives the bootstrap of a root syncs the directory of this root, and not its own directory.
pub(super) struct Bootstraps<'a> {
    /// The synced paths of the roots, by the file of the root.
    paths: BTreeMap<String, BTreeSet<String>>,
    /// The directories with a Kustomization that applies the directory and the bootstrap of a root.
    units: BTreeSet<&'a str>,
}

impl<'a> Bootstraps<'a> {
    pub(super) fn of(tree: &Tree, coverage: &'a Coverage<'_>, roots: &[RootCandidate]) -> Self {
        let mut paths: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut synced: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for root in roots {
            let file = root.file.path().to_owned();
            paths.entry(file.clone()).or_default().insert(clamp(&root.path));
            if let Some(folder) = root.synced(tree).filter(|folder| !folder.is_empty() && is_inside(&file, folder)) {
                synced.entry(folder).or_default().push(file);
            }
        }
        let applies = |target: &str| synced.contains_key(target);
        let of_roots = coverage.syncs.iter().filter(|sync| !is_remote(&sync.object));
        let of_roots = of_roots.filter_map(|sync| Some((sync, sync.target.as_deref().filter(|of| applies(of))?)));
        let units = of_roots.flat_map(|(sync, target)| sync.units.iter().map(move |unit| (unit.as_str(), target)));
        let outside = units.filter(|(unit, target)| !is_inside(unit, target)).map(|(unit, _)| unit).collect();
        Self { paths, units: outside }
    }

    /// Returns whether a directory includes or applies the bootstrap of a root.
    pub(super) fn are_in(&self, builder: &Builder, includers: &Includers, folder: &str) -> bool {
        let inside = format!("{folder}/");
        let below = self.units.range(inside.as_str()..).next();
        if self.units.contains(folder) || below.is_some_and(|unit| unit.starts_with(&inside)) {
            return true;
        }
        includers.is_buildable(folder)
            && builder.build(folder).objects.iter().any(|object| {
                let paths = [&["spec", "path"][..], &["spec", "sync", "path"]];
                let path = paths.into_iter().find_map(|keys| object.text_at(keys)).map(clamp);
                let own = self.paths.get(object.node.origin.written().file().path());
                own.zip(path).is_some_and(|(own, path)| own.contains(&path))
            })
    }
}
