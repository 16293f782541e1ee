//! Several roots of one cluster: Flux in a second namespace, and a further directory of the same source.

use std::collections::BTreeMap;

use super::candidate::{CandidateKind, RootCandidate};
use super::coverage::{Coverage, WrittenSync};
use super::overlaps::is_beside;
use super::repository::repository;
use super::root::{is_of, synced_source};
use super::self_applied::path_of;
use crate::base::set_aside::is_set_aside;
use crate::flux::install::includers::Includers;
use crate::flux::object::kinds::{is_kustomization, is_source};
use crate::kube::{Object, ObjectId, groups};
use crate::kustomize::Builder;
use crate::text::{Tree, folder_of, is_inside};

/// The maximum number of Kustomizations that users apply by hand to each cluster.
const MAX_BY_HAND: usize = 16;

/// Adds the objects of each further root of a cluster to the bootstrap of its first root.
pub(super) fn join_parts(tree: &Tree, coverage: &Coverage<'_>, candidates: &mut Vec<RootCandidate>) {
    let mut firsts = firsts_of_second_flux(candidates);
    if let [one, other] = candidates.as_slice() {
        if is_of_common_source(tree, coverage, other, one) {
            firsts[0] = Some(1);
        } else if is_of_common_source(tree, coverage, one, other) {
            firsts[1] = Some(0);
        }
    }
    let mut all: Vec<Option<RootCandidate>> = std::mem::take(candidates).into_iter().map(Some).collect();
    for (at, first) in firsts.into_iter().enumerate() {
        let Some(first) = first else { continue };
        let part = all[at].take();
        let (Some(part), Some(first)) = (part, all[first].as_mut()) else { continue };
        let known: Vec<ObjectId<'_>> = first.objects.iter().map(|object| ObjectId::of(object).settled()).collect();
        let is_new = |object: &Object| !known.contains(&ObjectId::of(object).settled());
        let objects: Vec<Object> = part.objects.into_iter().filter(is_new).collect();
        first.objects.splice(0..0, objects);
        first.findings.extend(part.findings);
    }
    candidates.extend(all.into_iter().flatten());
}

/// Adds the Kustomizations that a user applies by hand, beside the kustomization of a directory that contains their source, but
/// no Kustomizations. Such a directory is not a cluster: the user applies its Kustomization to each cluster.
pub(super) fn add_sources_by_hand(
    builder: &Builder,
    includers: &Includers,
    coverage: &Coverage<'_>,
    candidates: &mut [RootCandidate],
) {
    let by_hand = coverage.syncs.iter().filter(|sync| sync.is_loose && !sync.is_of_other).filter_map(|sync| {
        let folder = path_of(&sync.object)?;
        let is_beside = folder_of(&sync.file) == folder && includers.is_buildable(&folder);
        let is_free = !coverage.overlaps(&folder) && !coverage.covers_with_other(&folder, &sync.object);
        if !is_beside || !is_free || includers.reaches(&folder, &sync.file) || is_set_aside(&folder, |_| false) {
            return None;
        }
        let objects = builder.build(&folder).objects;
        let source = objects.iter().find(|object| is_source(object) && is_of(&sync.object, object))?;
        (!objects.iter().any(is_kustomization)).then(|| (source.clone(), sync.object.clone()))
    });
    let by_hand: Vec<(Object, Object)> = by_hand.take(MAX_BY_HAND).collect();
    for candidate in candidates {
        for (source, sync) in &by_hand {
            candidate.further_sources.push((source.clone(), String::new()));
            let is_known = candidate.objects.iter().any(|object| ObjectId::of(object) == ObjectId::of(source));
            let added = Some(source).filter(|_| !is_known).into_iter().chain([sync]).cloned();
            candidate.objects.splice(0..0, added);
        }
    }
}

/// For each candidate that is the bootstrap of Flux in a second namespace of a cluster: the index of the bootstrap of the
/// first namespace.
///
/// `flux bootstrap` writes its files to a directory with the name of the namespace, in the directory of the cluster.
fn firsts_of_second_flux(candidates: &[RootCandidate]) -> Vec<Option<usize>> {
    let cluster_of = |one: &RootCandidate| {
        let sync = one.objects.last().filter(|_| one.kind == CandidateKind::Sync)?;
        let (cluster, name) = (folder_of(one.file.path()), sync.namespace()?);
        let cluster = cluster.strip_suffix(name)?.strip_suffix('/')?;
        Some((cluster.to_owned(), name == sync.name(), repository(&one.objects)?))
    };
    let is_default = |one: &RootCandidate| one.home.ends_with(groups::FLUX_NAMESPACE);
    let clusters: Vec<Option<(String, bool, String)>> = candidates.iter().map(cluster_of).collect();
    let mut defaults: BTreeMap<&(String, bool, String), Vec<usize>> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate().filter(|(at, _)| is_default(&candidates[*at])) {
        if let Some(cluster) = cluster {
            defaults.entry(cluster).or_default().push(at);
        }
    }
    let first = |(part, cluster): (&RootCandidate, &Option<(String, bool, String)>)| {
        let firsts = cluster.as_ref().filter(|_| !is_default(part)).and_then(|cluster| defaults.get(cluster))?;
        firsts.iter().copied().find(|at| candidates[*at].namespace() != part.namespace())
    };
    candidates.iter().zip(&clusters).map(first).collect()
}

/// Returns whether `part` uses a source that only `first` defines, and both apply different Kustomizations.
///
/// A user or a script applies both to one cluster.
fn is_of_common_source(tree: &Tree, coverage: &Coverage<'_>, first: &RootCandidate, part: &RootCandidate) -> bool {
    let is_by_hand = |one: &RootCandidate| matches!(one.kind, CandidateKind::SelfApplied | CandidateKind::ByHand);
    let source = part.objects.last().and_then(synced_source);
    let defines = |one: &RootCandidate| {
        let sync = one.objects.last();
        let mut sources = one.objects.iter().filter(|object| is_source(object));
        sources.any(|object| sync.is_some_and(|sync| is_of(sync, object)) && object.text_at(&["spec", "url"]).is_some())
    };
    let inside = |one: &RootCandidate| -> Vec<&WrittenSync> {
        let Some(folder) = one.synced(tree) else { return Vec::new() };
        coverage.syncs.iter().filter(|sync| is_inside(&sync.file, &folder)).collect()
    };
    let is_alike = || {
        let identity = |sync: &WrittenSync| (sync.object.namespace().map(str::to_owned), sync.object.name().to_owned());
        let own: Vec<_> = inside(first).into_iter().map(identity).collect();
        inside(part).into_iter().any(|sync| own.contains(&identity(sync)))
    };
    is_by_hand(first)
        && is_by_hand(part)
        && source.is_some()
        && source == first.objects.last().and_then(synced_source)
        && defines(first)
        && !defines(part)
        && !is_beside(&first.home, &part.home)
        && !is_beside(&part.home, &first.home)
        && !is_alike()
}
