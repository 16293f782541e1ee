//! Roots that neither the flux CLI nor Flux Operator created: Kustomizations that apply their own directory.
//!
//! A user applied the Kustomization once. Since then, it applies itself, so no other object needs to reference the
//! directory. A Kustomization of a whole source is not a root, since its source may be the repository of a tenant.

use std::collections::BTreeSet;

use super::candidate::{CandidateKind, RootCandidate};
use super::coverage::{Coverage, WrittenSync};
use super::overlaps::is_beside;
use super::root::is_of;
use super::synthetic_sync::source_of;
use crate::base::finding::Finding;
use crate::flux::classify::objects;
use crate::flux::install::includers::Includers;
use crate::flux::install::version::is_controller;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::object::kustomization_path::clamp;
use crate::flux::source::reference::SourceRef;
use crate::kube::{Object, groups};
use crate::kustomize::Builder;
use crate::text::{folder_of, is_inside};
use crate::yaml::Node;

/// The Kustomizations that apply their own directory, in directories that no other object applies.
pub(super) fn self_applied(builder: &Builder, includers: &Includers, coverage: &Coverage<'_>) -> Vec<RootCandidate> {
    let mut candidates = Vec::new();
    let mut tops: BTreeSet<&str> = BTreeSet::new();
    for sync in coverage.syncs.iter().filter(|sync| !sync.is_of_other) {
        if sync.is_loose {
            candidates.extend(in_file(builder, includers, coverage, sync));
        } else if !sync.units.iter().any(|unit| coverage.covers_with_other(unit, &sync.object)) {
            // Otherwise, Flux applies the Kustomization with another directory.
            tops.extend(sync.units.iter().map(String::as_str));
        }
    }
    let mut others: Vec<(&str, Vec<Object>)> = Vec::new();
    for top in tops.into_iter().filter(|top| includers.is_buildable(top)) {
        let build = builder.build(top);
        match in_build(top, build.objects, build.findings) {
            Ok(found) => candidates.push(found),
            Err(objects) => others.push((top, objects)),
        }
    }
    let copies: Vec<RootCandidate> = others.into_iter().filter_map(|(top, of)| copy(top, of, &candidates)).collect();
    candidates.extend(copies);
    candidates
}

/// The candidate for a directory whose Kustomization applies the directory of another candidate, which contains the same
/// Kustomization. The directory is a copy of the other directory.
fn copy(top: &str, objects: Vec<Object>, candidates: &[RootCandidate]) -> Option<RootCandidate> {
    let is_of_other = |object: &Object, path: &str| {
        candidates.iter().filter(|one| one.kind == CandidateKind::SelfApplied && is_beside(top, path)).any(|one| {
            one.home == path && one.objects.last().is_some_and(|other| other.reference() == object.reference())
        })
    };
    let mut kustomizations = objects.into_iter().filter(is_kustomization);
    let (sync, path) = kustomizations.find_map(|object| {
        let path = path_of(&object).filter(|path| is_of_other(&object, path))?;
        Some((object, path))
    })?;
    Some(RootCandidate { home: top.to_string(), ..candidate(Vec::new(), sync, &path) })
}

/// Returns whether a Kustomization waits for a Kustomization that is not beside it.
///
/// The other Kustomization is the root of the cluster, or below the root.
pub(super) fn waits_for_others(object: &Object, beside: &[Object]) -> bool {
    let others = object.node.at_keys(&["spec", "dependsOn"]).map_or(&[][..], Node::items);
    let is_beside = |name: &str| beside.iter().any(|one| is_kustomization(one) && one.name() == name);
    others.iter().filter_map(|other| other.get("name")?.text()).any(|name| !is_beside(name))
}

/// The path of a Kustomization; `None` for the whole source and for unknown paths.
pub(super) fn path_of(object: &Object) -> Option<String> {
    let path = object.text_at(&["spec", "path"])?;
    Some(clamp(path)).filter(|folder| !folder.is_empty() && !path.contains('$'))
}

/// The candidate for a Kustomization in a file that no kustomization includes.
fn in_file(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
    sync: &WrittenSync,
) -> Option<RootCandidate> {
    let folder = path_of(&sync.object)?;
    let is_of_folder = is_inside(&sync.file, &folder) && includers.reaches(&folder, &sync.file);
    if !is_of_folder && !is_beside_its_kustomization(builder, includers, sync, &folder) {
        return None;
    }
    if coverage.covers_with_other(&folder, &sync.object) {
        return None;
    }
    let beside = builder.files().get(&sync.file)?;
    // A file may contain thousands of such Kustomizations, so only the sources are collected.
    let has_dependencies = sync.object.node.at_keys(&["spec", "dependsOn"]).is_some();
    if has_dependencies && waits_for_others(&sync.object, &objects(&beside).collect::<Vec<Object>>()) {
        return None;
    }
    Some(with_sources(builder, sync, &folder))
}

/// The candidate for a Kustomization, with its source if the same file contains the source.
pub(super) fn with_sources(builder: &Builder, sync: &WrittenSync, folder: &str) -> RootCandidate {
    let beside = builder.files().get(&sync.file);
    let sources = beside.iter().flat_map(|beside| objects(beside)).filter(is_source);
    candidate(sources.filter(|source| is_of(&sync.object, source)).collect(), sync.object.clone(), folder)
}

/// Returns whether a file is beside the kustomization of the directory that the Kustomization applies, and this directory
/// contains further Kustomizations.
///
/// A user applies the file once, or another repository contains a copy of the Kustomization.
fn is_beside_its_kustomization(builder: &Builder, includers: &Includers, sync: &WrittenSync, folder: &str) -> bool {
    folder_of(&sync.file) == folder
        && includers.is_buildable(folder)
        && builder.build(folder).objects.iter().any(is_kustomization)
}

/// The candidate for the directory of a cluster, if a Kustomization in its build applies the directory.
///
/// The Kustomization may wait for a Kustomization of another cluster by mistake.
pub(super) fn of_cluster(builder: &Builder, folder: &str) -> Option<RootCandidate> {
    let build = builder.build(folder);
    let at = build.objects.iter().position(|object| applies(object, folder))?;
    Some(from_build(folder, build.objects, at, folder, true, build.findings))
}

/// The candidate for the directory of a cluster, if one of its files contains a Kustomization that applies the directory.
///
/// If the directory does not contain the file, a user applies all objects of the file.
pub(super) fn of_files<'a>(
    builder: &Builder,
    includers: &Includers,
    folder: &str,
    mut inside: impl Iterator<Item = &'a WrittenSync>,
) -> Option<RootCandidate> {
    let sync = inside.find(|sync| sync.is_loose && !sync.is_of_other && applies(&sync.object, folder))?;
    let mut found = RootCandidate { home: folder.to_string(), ..with_sources(builder, sync, folder) };
    if !includers.reaches(folder, &sync.file) {
        let beside = builder.files().get(&sync.file);
        let beside: Vec<Object> = beside.iter().flat_map(|beside| objects(beside)).collect();
        if beside.iter().filter(|object| is_kustomization(object)).count() == 1 {
            let others = beside.into_iter().filter(|object| !is_kustomization(object) && !is_source(object));
            found.objects.splice(0..0, others);
        }
    }
    Some(found)
}

/// Returns whether an object is a Kustomization that applies exactly a directory.
fn applies(object: &Object, folder: &str) -> bool {
    is_kustomization(object) && path_of(object).is_some_and(|path| path == folder)
}

/// The candidate for a Kustomization in the build of a directory, or the objects of the build.
fn in_build(top: &str, objects: Vec<Object>, findings: Vec<Finding>) -> Result<RootCandidate, Vec<Object>> {
    let applies_it = |object: &Object| applies(object, top).then(|| top.to_string());
    // The Kustomization may also apply a parent directory, if the build contains its source, or if `flux bootstrap`
    // created the source.
    let applies_more = |object: &Object| {
        let path = path_of(object).filter(|path| is_kustomization(object) && is_inside(top, path))?;
        let has_source = || objects.iter().any(|source| is_source(source) && is_of(object, source));
        (is_of_bootstrap(object) || has_source()).then_some(path)
    };
    let find = |applies: &dyn Fn(&Object) -> Option<String>| {
        let mut found = objects.iter().enumerate().filter_map(|(at, object)| Some((at, applies(object)?)));
        let first = found.next()?;
        let named = |(at, _): &(usize, _)| objects[*at].name() == groups::FLUX_NAMESPACE;
        Some(if named(&first) { first } else { found.find(named).unwrap_or(first) })
    };
    let (own, more) = (find(&applies_it), || find(&applies_more));
    let is_own = own.is_some();
    let Some((at, path)) = own.or_else(more) else { return Err(objects) };
    if waits_for_others(&objects[at], &objects) {
        return Err(objects);
    }
    Ok(from_build(top, objects, at, &path, is_own, findings))
}

/// The candidate for the Kustomization at an index of the objects of a build.
fn from_build(
    top: &str,
    objects: Vec<Object>,
    at: usize,
    path: &str,
    is_own: bool,
    findings: Vec<Finding>,
) -> RootCandidate {
    let mut beside = objects;
    let sync = beside.remove(at);
    // The version of Flux must be known before the first build.
    let controller = beside.iter().rfind(|object| is_controller(object)).cloned();
    if is_own {
        // The Kustomization applies the other objects of its directory, so they are not part of the bootstrap.
        beside.retain(|object| is_source(object) && is_of(&sync, object));
    }
    let found = candidate(beside, sync, path);
    RootCandidate { home: top.to_string(), findings, controller, ..found }
}

/// Returns whether a Kustomization uses the source that `flux bootstrap` creates by default.
fn is_of_bootstrap(object: &Object) -> bool {
    SourceRef::of_kustomization(object).is_some_and(|source| &*source.name == groups::FLUX_NAMESPACE)
}

/// The candidate for a Kustomization, with a generated source if `beside` does not contain its source.
fn candidate(beside: Vec<Object>, sync: Object, path: &str) -> RootCandidate {
    let file = sync.node.origin.written().file().clone();
    let mut objects = beside;
    if !objects.iter().any(|source| is_source(source) && is_of(&sync, source))
        && let Some(source) = SourceRef::of_kustomization(&sync)
    {
        objects.push(source_of(&source, &file.first_line()));
    }
    objects.push(sync);
    let found = RootCandidate::new(CandidateKind::SelfApplied, &file, objects, path);
    RootCandidate { prefix: Some(String::new()), ..found }
}
