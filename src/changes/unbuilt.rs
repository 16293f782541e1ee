//! The appliers that only one state builds, so that their objects cannot be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::model::Unbuilt;
use crate::base::finding::{Finding, ObjectRef, Severity};
use crate::flux::{Applier, ApplierKind, Receiver, Repo, State};
use crate::text::{Span, is_inside};
use crate::yaml::{INVALID_YAML, Name};

/// The errors of a state.
struct Faults<'a> {
    by_object: BTreeMap<&'a ObjectRef, &'a Finding>,
    errors: Vec<&'a Finding>,
    has_clusters: bool,
}

impl<'a> Faults<'a> {
    fn of(repo: &'a Repo) -> Self {
        // A file that no build reads has a warning. Without the fault, a build may read the file.
        let is_error = |one: &&Finding| one.severity == Severity::Error || one.rule == INVALID_YAML;
        let errors: Vec<&Finding> = repo.problems.iter().filter(is_error).collect();
        let by_object = errors.iter().rev().filter_map(|finding| Some((finding.object.as_ref()?, *finding))).collect();
        Self { by_object, errors, has_clusters: repo.clusters.iter().any(|cluster| !cluster.name.is_empty()) }
    }

    /// The fault that prevents the build of an applier. Appliers share a fault, and its finding names one of them.
    fn of_applier(&self, applier: &Applier, cluster: &Name) -> Option<&'a Finding> {
        let in_folder = |finding: &&&Finding| is_inside(finding.at.span.file().path(), &applier.folder);
        let on_cluster = |finding: &&&Finding| finding.clusters.iter().any(|name| **name == **cluster);
        let invalid = || self.errors.iter().filter(|finding| finding.rule == INVALID_YAML);
        let named = self.by_object.get(&applier.reference);
        named.or_else(|| invalid().find(in_folder)).or_else(|| invalid().find(on_cluster)).copied()
    }

    /// The reason why the state lacks a cluster that the other state has, with its place; `None` if it was removed.
    fn loss(&self, folder: &str, is_later: bool) -> Option<(String, Option<Span>)> {
        let fault = self.errors.iter().find(|finding| is_inside(finding.at.span.file().path(), folder));
        match fault {
            Some(fault) => Some((fault.message.clone(), Some(fault.at.span.clone()))),
            // The first cluster of a repository is new, but the loss of all clusters is rather a mistake.
            None => (is_later && !self.has_clusters).then(|| ("no cluster was found".to_owned(), None)),
        }
    }
}

/// The appliers of all clusters without a build.
pub(super) struct AllUnbuilt<'a> {
    pub(super) found: Vec<Unbuilt>,
    /// The errors of the earlier and the later state.
    faults: [Faults<'a>; 2],
    /// The positions in the list, by applier, state and reason.
    known: BTreeMap<(ObjectRef, bool, String), usize>,
}

/// The appliers of a cluster without a build, in each state.
#[derive(Default)]
pub(super) struct UnbuiltAppliers {
    pub(super) before: BTreeSet<ObjectRef>,
    pub(super) after: BTreeSet<ObjectRef>,
    /// Whether an applier has no build only in the earlier state.
    pub(super) is_only_before: bool,
    /// Whether an applier has no build only in the later state.
    pub(super) is_only_after: bool,
}

impl UnbuiltAppliers {
    /// Returns whether a change of an object is unknown: a failed build may still return some objects, but a fault may
    /// have changed them.
    pub(super) fn hide(&self, former: &Arc<Applier>, applier: &Arc<Applier>) -> bool {
        let is_moved = former.reference != applier.reference;
        self.before.contains(&former.reference)
            || self.after.contains(&applier.reference)
            || (is_moved && (is_below(former, &self.after) || is_below(applier, &self.before)))
    }
}

impl<'a> AllUnbuilt<'a> {
    pub(super) fn new(before: &'a Repo, after: &'a Repo) -> Self {
        Self { found: Vec::new(), faults: [Faults::of(before), Faults::of(after)], known: BTreeMap::new() }
    }

    /// Records a cluster that one state lacks because of a fault. Returns `false` if it was added or removed.
    pub(super) fn add_lost(&mut self, name: &Name, receiver: &Receiver<'_>, is_later: bool) -> bool {
        let cluster = receiver.cluster;
        let Some((reason, at)) = self.faults[usize::from(is_later)].loss(&cluster.folder, is_later) else {
            return false;
        };
        let Some(root) = cluster.appliers.first() else { return false };
        let unbuilt =
            Unbuilt { applier: root.reference.clone(), is_later, failed: true, reason, at, clusters: Vec::new() };
        self.add_one(unbuilt, name);
        true
    }

    /// Records the appliers of a cluster that only one state builds.
    pub(super) fn add(&mut self, cluster: &Name, before: &Receiver<'_>, after: &Receiver<'_>) -> UnbuiltAppliers {
        let mut unbuilt = UnbuiltAppliers::default();
        if appliers(before).chain(appliers(after)).all(|applier| applier.state == State::Built) {
            return unbuilt;
        }
        let states = |receiver| -> BTreeMap<&ObjectRef, &Applier> {
            appliers(receiver).map(|applier| (&applier.reference, &**applier)).collect()
        };
        let (earlier, later) = (states(before), states(after));
        for (all, is_later) in [(&earlier, false), (&later, true)] {
            let other = if is_later { &earlier } else { &later };
            for (reference, applier) in all.iter().filter(|(_, applier)| applier.state != State::Built) {
                let own = if is_later { &mut unbuilt.after } else { &mut unbuilt.before };
                own.insert((*reference).clone());
                if other.get(*reference).is_some_and(|applier| applier.state == State::Built) {
                    *(if is_later { &mut unbuilt.is_only_after } else { &mut unbuilt.is_only_before }) = true;
                }
                let failed = applier.state == State::Failed;
                // Nothing can be said about an applier that neither state builds.
                if !failed && other.get(*reference).is_none_or(|applier| applier.state != State::Built) {
                    continue;
                }
                let fault = self.faults[usize::from(is_later)].of_applier(applier, cluster);
                let (reason, at) = match (&applier.state, fault) {
                    (State::NotBuilt(reason), _) => (reason.to_string(), None),
                    (_, Some(fault)) => (fault.message.clone(), Some(fault.at.span.clone())),
                    (_, None) => ("its build fails".to_owned(), None),
                };
                let applier = (*reference).clone();
                self.add_one(Unbuilt { applier, is_later, failed, reason, at, clusters: Vec::new() }, cluster);
            }
        }
        unbuilt
    }

    fn add_one(&mut self, unbuilt: Unbuilt, cluster: &Name) {
        let Self { found, known, .. } = self;
        let key = (unbuilt.applier.clone(), unbuilt.is_later, unbuilt.reason.clone());
        let at = *known.entry(key).or_insert_with(|| {
            found.push(unbuilt);
            found.len() - 1
        });
        if let Some(known) = found.get_mut(at).filter(|_| !cluster.is_empty()) {
            known.clusters.push(cluster.clone());
        }
    }
}

/// Returns whether an applier or one of its ancestors is in a set.
pub(super) fn is_below(applier: &Arc<Applier>, unbuilt: &BTreeSet<ObjectRef>) -> bool {
    let mut next = Some(applier).filter(|_| !unbuilt.is_empty());
    while let Some(applier) = next {
        if unbuilt.contains(&applier.reference) {
            return true;
        }
        next = applier.parent_applier.as_ref();
    }
    false
}

fn appliers<'a>(receiver: &Receiver<'a>) -> impl Iterator<Item = &'a std::sync::Arc<Applier>> + use<'a> {
    receiver.cluster.appliers.iter().filter(|applier| applier.kind != ApplierKind::Bootstrap)
}
