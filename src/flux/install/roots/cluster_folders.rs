//! Directories of Kustomizations that nothing applies: `flux bootstrap` has not run yet, or a platform configures Flux
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{CandidateKind, RootCandidate, prefixes};
use super::coverage::{Coverage, WrittenSync};
use super::names::{CLUSTERS, is_generic, is_placeholder};
use super::synthetic_sync::{bootstrap_source, sync_of};
use crate::base::set_aside::is_set_aside;
use crate::flux::classify::objects;
use crate::flux::install::includers::Includers;
use crate::flux::object::kinds::is_source;
use crate::flux::object::kustomization_path::{below, clamp};
use crate::flux::object::synthetic_node::text;
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, groups};
use crate::kustomize::Files;
use crate::text::{Index, Tree, folder_of, is_inside};

/// Names of directories with parts of clusters.
const PARTS: &[&str] = &["base", "bases", "common", "components", "shared"];

/// A directory whose Kustomizations no other one applies, with the numbers of these.
type Units<'a> = BTreeMap<&'a str, Vec<&'a WrittenSync>>;

/// The directories of clusters: those below `clusters`, and, in a repository without any other root, sibling directories
/// that define the same Kustomizations.
pub(super) fn cluster_folders(
    files: &Files,
    includers: &Includers,
    coverage: &Coverage<'_>,
    is_alone: bool,
) -> Vec<RootCandidate> {
    let mut units: Units<'_> = BTreeMap::new();
    for sync in &coverage.syncs {
        for unit in &sync.units {
            units.entry(unit).or_default().push(sync);
        }
    }
    units.retain(|unit, syncs| {
        let is_part = unit.split('/').any(|segment| PARTS.contains(&segment) || is_placeholder(segment));
        let is_unit = syncs.iter().any(|sync| sync.is_loose) || includers.is_buildable(unit);
        let is_aside = is_set_aside(unit, |folder| is_cluster(folder));
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
            if children.len() > 1 && are_alike(&children) {
                found.extend(children.into_keys());
            }
        }
    }
    found.retain(|folder| !coverage.overlaps(folder));
    found.iter().filter_map(|folder| candidate(files, folder, &units)).collect()
}

/// Returns whether a directory is that of a cluster, which may have any name.
fn is_cluster(folder: &str) -> bool {
    folder_of(folder).rsplit('/').next() == Some(CLUSTERS)
}

/// The directory `clusters` above a directory.
fn base_of(folder: &str) -> Option<&str> {
    prefixes(folder).find(|above| above.rsplit('/').next() == Some(CLUSTERS)).filter(|base| *base != folder)
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

/// Returns whether two of several directories define the same Kustomization, so that they are of different clusters.
fn are_alike(children: &BTreeMap<String, Vec<&WrittenSync>>) -> bool {
    let mut seen: Index<(Option<&str>, &str), &str> = Index::default();
    children.iter().any(|(child, syncs)| {
        syncs.iter().any(|sync| {
            let identity = (sync.object.namespace(), sync.object.name());
            seen.insert(identity, child).is_some_and(|other| other != child)
        })
    })
}

/// Adds the directories of clusters below a directory. The parts of one cluster are in several directories, too, but
/// define different Kustomizations.
fn split(base: &str, units: &Units<'_>, found: &mut BTreeSet<String>) {
    for folder in children(base, units).into_keys() {
        let parts = children(&folder, units);
        let is_unit = units.contains_key(folder.as_str());
        let single =
            parts.keys().next().filter(|part| parts.len() == 1 && !is_generic(part.rsplit('/').next().unwrap_or(part)));
        if !is_unit && (are_alike(&parts) || single.is_some()) {
            split(&folder, units, found);
        } else {
            found.insert(folder);
        }
    }
}

/// The root of a directory: the source that its Kustomizations share, and a Kustomization of the directory.
fn candidate(files: &Files, folder: &str, units: &Units<'_>) -> Option<RootCandidate> {
    let inside = units.iter().filter(|(unit, _)| is_inside(unit, folder));
    let syncs: Vec<&WrittenSync> = inside.flat_map(|(_, syncs)| syncs.iter().copied()).collect();
    let file = files.get(&syncs.first()?.file)?.file.clone();
    let (source, prefix) = own_source(files, folder, &syncs);
    let path = folder.get(prefix.len()..)?.trim_start_matches('/').to_string();
    let place = file.first_line();
    let objects = sync_of(&source, &text(&format!("./{path}"), &place), &place);
    let found = RootCandidate::new(CandidateKind::Folder, &file, objects, &path);
    Some(RootCandidate { home: folder.to_string(), prefix: Some(prefix), ..found })
}

/// The source that Kustomizations use although nothing defines it, with the directory that is its root: the bootstrap
/// will define it.
fn own_source(files: &Files, folder: &str, syncs: &[&WrittenSync]) -> (SourceRef, String) {
    let mut defined: BTreeSet<(String, String)> = BTreeSet::new();
    for path in files.tree().under(folder) {
        let Some(parsed) = files.get(path) else { continue };
        let sources = objects(&parsed).filter(is_source);
        defined.extend(sources.map(|source| (source.kind().to_string(), source.name().to_string())));
    }
    // The paths of the Kustomizations of each source.
    let mut used: BTreeMap<SourceRef, Vec<String>> = BTreeMap::new();
    for sync in syncs {
        let Some(source) = source_of(&sync.object) else { continue };
        if !defined.contains(&(source.kind.to_string(), source.name.to_string())) {
            let path = sync.object.text_at(&["spec", "path"]).unwrap_or_default();
            let paths = used.entry(source).or_default();
            paths.extend(Some(clamp(path)).filter(|path| !path.is_empty() && !path.contains('$')));
        }
    }
    let rated = used.into_iter().map(|(source, paths)| {
        let (prefix, count) = best_prefix(files.tree(), folder, &paths);
        (count, &*source.name == groups::FLUX_NAMESPACE, source, prefix)
    });
    let best = rated.max_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let best = best.filter(|(count, is_bootstrap, ..)| *count > 0 || *is_bootstrap);
    best.map_or_else(
        || (bootstrap_source(groups::FLUX_NAMESPACE), String::new()),
        |(_, _, source, prefix)| (source, prefix),
    )
}

/// The source of a Kustomization, in the namespace of Flux by default.
fn source_of(object: &Object) -> Option<SourceRef> {
    let source = SourceRef::of_kustomization(object)?;
    let is_known = !source.namespace.is_empty();
    Some(if is_known { source } else { SourceRef { namespace: groups::FLUX_NAMESPACE.into(), ..source } })
}

/// The outermost directory above a cluster below which most paths exist, and their number.
fn best_prefix(tree: &Tree, folder: &str, paths: &[String]) -> (String, usize) {
    let mut best = (String::new(), 0);
    for prefix in prefixes(folder_of(folder)) {
        let count = paths.iter().filter(|path| tree.has_folder(&below(prefix, path))).count();
        if count > best.1 {
            best = (prefix.to_string(), count);
        }
    }
    best
}
