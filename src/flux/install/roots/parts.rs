//! Several roots of one cluster: Flux in a second namespace, and a further directory of the same source.

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
    let is_pair = candidates.len() == 2;
    let mut at = 0;
    while at < candidates.len() {
        let part = &candidates[at];
        let is_first = |one: &RootCandidate| {
            is_of_second_flux(one, part) || (is_pair && is_of_common_source(tree, coverage, one, part))
        };
        let Some(first) = candidates.iter().position(is_first) else {
            at += 1;
            continue;
        };
        let part = candidates.remove(at);
        let first = &mut candidates[if first > at { first - 1 } else { first }];
        let known: Vec<ObjectId<'_>> = first.objects.iter().map(|object| ObjectId::of(object).settled()).collect();
        let is_new = |object: &Object| !known.contains(&ObjectId::of(object).settled());
        let objects: Vec<Object> = part.objects.into_iter().filter(is_new).collect();
        first.objects.splice(0..0, objects);
        first.findings.extend(part.findings);
    }
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

/// Returns whether `part` is the bootstrap of Flux in a second namespace of a cluster.
///
/// `flux bootstrap` writes its files to a directory with the name of the namespace, in the directory of the cluster.
fn is_of_second_flux(first: &RootCandidate, part: &RootCandidate) -> bool {
    let namespaced = |one: &RootCandidate| {
        let sync = one.objects.last().filter(|_| one.kind == CandidateKind::Sync)?;
        let (cluster, name) = (folder_of(one.file.path()), sync.namespace()?);
        let cluster = cluster.strip_suffix(name)?.strip_suffix('/')?;
        Some((cluster.to_owned(), name == sync.name(), repository(&one.objects)?))
    };
    let is_default = |one: &RootCandidate| one.home.ends_with(groups::FLUX_NAMESPACE);
    let (one, other) = (namespaced(first), namespaced(part));
    one.is_some() && one == other && first.namespace() != part.namespace() && is_default(first) && !is_default(part)
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
