//! A source and its Kustomizations in a directory that no object applies.
//!
//! A user or a script applies this directory once, after `flux install`. It is the root of a repository without other
//! roots if the Kustomizations apply directories of the tree.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{CandidateKind, RootCandidate, base_of, prefixes};
use super::cluster_folders::objects_in;
use super::coverage::{Coverage, WrittenSync, is_remote, source_of};
use super::root::is_of;
use super::self_applied::{path_of, waits_for_others, with_sources};
use super::synthetic_sync::{self, bootstrap_source, sync_of};
use crate::base::set_aside::is_set_aside;
use crate::flux::classify::objects;
use crate::flux::install::includers::Includers;
use crate::flux::install::terraform::{PassedDirectory, passed_directories};
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::flux::object::synthetic_node::text;
use crate::kube::{Object, groups};
use crate::kustomize::Builder;
use crate::text::{Tree, folder_of, is_inside};

/// The candidate for the only directory of this form; `None` if there are several, since they may be parts of one
/// cluster.
pub(super) fn applied_by_hand(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
) -> Option<RootCandidate> {
    let syncs = coverage.syncs.iter().filter(|sync| !sync.is_of_other);
    let units: BTreeSet<&str> = syncs.flat_map(|sync| &sync.units).map(String::as_str).collect();
    let is_root = |unit: &&str| !includers.is_component(unit) && !is_set_aside(unit, |_| false);
    let is_free =
        |one: &RootCandidate| !coverage.covers(&one.home) || !coverage.covers_from_elsewhere(&one.home, &one.path);
    let found = units.into_iter().filter(is_root).filter_map(|unit| candidate(builder, includers, unit));
    let mut found = found.filter(is_free);
    found.next().filter(|_| found.next().is_none())
}

/// The candidate for the only directory of this form in the directory of a cluster, if its Kustomization leads to all
/// other Kustomizations of the cluster.
pub(super) fn applied_by_hand_in(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
    cluster: &str,
) -> Option<RootCandidate> {
    let inside = || coverage.syncs.iter().filter(|sync| is_inside(&sync.file, cluster));
    let is_part = |path: &str| is_inside(path, cluster) && path != cluster;
    let applies_part = |sync: &&WrittenSync| sync.target.as_deref().is_some_and(is_part);
    let units: BTreeSet<&str> =
        inside().filter(applies_part).flat_map(|sync| &sync.units).map(String::as_str).collect();
    let leads_to_all = |one: &RootCandidate| {
        let mut others = inside().filter(|sync| !sync.units.contains(&one.home));
        is_part(&one.path) && others.all(|sync| coverage.leads(&one.path, &sync.file))
    };
    let units =
        units.into_iter().filter(|unit| is_part(unit) && !coverage.covers(unit) && !includers.is_component(unit));
    let mut found = units.filter_map(|unit| candidate(builder, includers, unit)).filter(leads_to_all);
    let own = found.next().filter(|_| found.next().is_none())?;
    Some(RootCandidate { home: cluster.to_owned(), ..own })
}

/// The candidates for the directories of clusters that Kustomizations in files elsewhere apply, if these directories define the same
/// Kustomizations. A user applies one file to each cluster.
pub(super) fn of_clusters(builder: &Builder, coverage: &Coverage<'_>) -> Vec<RootCandidate> {
    let tree = builder.files().tree();
    let mut by_target: BTreeMap<&str, &WrittenSync> = BTreeMap::new();
    for sync in coverage.syncs.iter().filter(|sync| sync.is_loose && !sync.is_of_other) {
        let Some(target) = sync.target.as_deref().filter(|target| tree.has_folder(target)) else { continue };
        let is_outside = base_of(target).is_some_and(|base| !is_inside(&sync.file, base));
        let is_free = is_outside
            && !is_set_aside(&sync.file, |_| false)
            && !is_remote(&sync.object)
            && !waits_for_others(&sync.object, &[])
            && !coverage.covers(folder_of(&sync.file));
        if is_free {
            by_target.entry(target).or_insert(sync);
        }
    }
    let files: BTreeSet<&str> = by_target.values().map(|sync| sync.file.as_str()).collect();
    // One file of several Kustomizations is for one cluster.
    if by_target.len() < 2 || files.len() < by_target.len() || !define_the_same(coverage, &by_target) {
        return Vec::new();
    }
    let candidate = |(target, sync): (&str, &WrittenSync)| RootCandidate {
        kind: CandidateKind::ByHand,
        home: target.to_owned(),
        ..with_sources(builder, sync, target)
    };
    by_target.into_iter().map(candidate).collect()
}

/// Returns whether two of several directories define the same Kustomization.
fn define_the_same(coverage: &Coverage<'_>, by_target: &BTreeMap<&str, &WrittenSync>) -> bool {
    let mut seen: BTreeMap<(Option<&str>, &str), &str> = BTreeMap::new();
    coverage.syncs.iter().any(|sync| {
        let identity = (sync.object.namespace(), sync.object.name());
        let around = sync.units.iter().flat_map(|unit| prefixes(unit));
        let mut targets = around.filter_map(|folder| by_target.get_key_value(folder)).map(|(target, _)| *target);
        targets.any(|target| *seen.entry(identity).or_insert(target) != target)
    })
}

/// The candidate for the only Kustomization in a file that no object applies, if its directory contains Kustomizations of
/// the same source. A user created the source with the flux CLI.
pub(super) fn with_source_of_cli(tree: &Tree, coverage: &Coverage<'_>) -> Option<RootCandidate> {
    let applies_parts = |sync: &WrittenSync, target: &str| {
        let source = source_of(&sync.object);
        let mut inside = coverage.syncs.iter().filter(|other| is_inside(&other.file, target));
        inside.any(|other| source.is_some() && source_of(&other.object) == source)
    };
    let mut found = coverage.syncs.iter().filter_map(|sync| {
        let folder = folder_of(&sync.file);
        let target =
            sync.target.as_deref().filter(|target| tree.has_folder(target) && !is_inside(&sync.file, target))?;
        let is_covered = || coverage.covers(folder) && coverage.covers_from_elsewhere(folder, target);
        let is_free = sync.is_loose && !is_set_aside(&sync.file, |_| false) && !is_covered();
        (is_free && !waits_for_others(&sync.object, &[]) && applies_parts(sync, target)).then_some((sync, target))
    });
    let (sync, target) = found.next().filter(|_| found.next().is_none())?;
    let file = sync.object.node.origin.written().file().clone();
    let source = synthetic_sync::source_of(&source_of(&sync.object)?, &file.first_line());
    let found = RootCandidate::new(CandidateKind::ByHand, &file, vec![source, sync.object.clone()], target);
    Some(RootCandidate { home: target.to_owned(), prefix: Some(String::new()), ..found })
}

/// The candidates for the directories that Terraform passes to Flux. The objects of the roots are generated.
pub(super) fn of_terraform(builder: &Builder) -> Vec<RootCandidate> {
    let candidate = |PassedDirectory { file, range, path }| {
        let place = file.span(range);
        let source = bootstrap_source(groups::FLUX_NAMESPACE);
        let objects = sync_of(&source, groups::FLUX_NAMESPACE, &text(&format!("./{path}"), &place), &place);
        let found = RootCandidate::new(CandidateKind::Folder, &file, objects, &path);
        RootCandidate { home: path, prefix: Some(String::new()), ..found }
    };
    passed_directories(builder).into_iter().map(candidate).collect()
}

fn candidate(builder: &Builder, includers: &Includers, unit: &str) -> Option<RootCandidate> {
    let tree = builder.files().tree();
    let build = includers.is_buildable(unit).then(|| builder.build(unit));
    // The kustomization of a directory may omit the file that the user applies.
    let (mut all, findings) = match build.filter(|build| build.objects.iter().any(is_kustomization)) {
        Some(build) => (build.objects, build.findings),
        None => (objects_in(builder, unit), Vec::new()),
    };
    let is_own = |object: &Object| path_of(object).is_some_and(|path| tree.has_folder(&path));
    if !all.iter().any(is_source) && all.iter().filter(|object| is_kustomization(object)).all(is_own) {
        all.extend(beside_sources(builder, unit, &all));
    }
    let of_source = |source: &Object| -> Vec<Object> {
        all.iter().filter(|object| is_kustomization(object) && is_of(object, source)).cloned().collect()
    };
    // The source is this repository if all paths exist.
    let mut parts = all.iter().filter(|object| is_source(object)).map(of_source);
    let parts = parts.find(|parts| !parts.is_empty() && parts.iter().all(is_own))?;
    let sync = parts.iter().find(|object| !waits_for_others(object, &all))?.clone();
    let has_parts = parts.len() > 1;
    let mut objects: Vec<Object> = all.into_iter().filter(|object| object.reference() != sync.reference()).collect();
    let (file, path) = (sync.node.origin.written().file().clone(), path_of(&sync)?);
    objects.push(sync);
    let found = RootCandidate::new(CandidateKind::ByHand, &file, objects, &path);
    Some(RootCandidate { home: unit.to_string(), findings, prefix: Some(String::new()), has_parts, ..found })
}

/// The objects of the files in sibling directories of a directory that contain the sources of its Kustomizations. A user or a
/// script applies these files first.
fn beside_sources(builder: &Builder, unit: &str, all: &[Object]) -> Vec<Object> {
    let parent = folder_of(unit);
    let is_sibling = |folder: &str| folder != unit && folder_of(folder) == parent && !folder.is_empty();
    let paths = builder.files().tree().under(parent).filter(|path| is_sibling(folder_of(path)));
    let files = paths.filter_map(|path| builder.files().get(path)).map(|parsed| objects(&parsed).collect::<Vec<_>>());
    let is_used = |source: &Object| {
        is_source(source) && all.iter().any(|object| is_kustomization(object) && is_of(object, source))
    };
    files.filter(|objects| objects.iter().any(is_used)).flatten().collect()
}
