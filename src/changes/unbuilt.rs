//! The appliers that only one state builds, so that their objects cannot be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::model::Unbuilt;
use crate::base::finding::ObjectRef;
use crate::flux::{Applier, ApplierKind, Receiver, State};
use crate::yaml::Name;

/// The appliers of all clusters without a build.
#[derive(Default)]
pub(super) struct AllUnbuilt {
    pub(super) found: Vec<Unbuilt>,
    /// The positions in the list, by applier, state and reason.
    known: BTreeMap<(ObjectRef, bool, String), usize>,
}

/// The appliers of a cluster without a build, in each state.
#[derive(Default)]
pub(super) struct UnbuiltAppliers {
    pub(super) before: BTreeSet<ObjectRef>,
    pub(super) after: BTreeSet<ObjectRef>,
}

impl AllUnbuilt {
    /// Records the appliers of a cluster that only one state builds.
    pub(super) fn add(&mut self, cluster: &Name, before: &Receiver<'_>, after: &Receiver<'_>) -> UnbuiltAppliers {
        let mut unbuilt = UnbuiltAppliers::default();
        if appliers(before).chain(appliers(after)).all(|applier| applier.state == State::Built) {
            return unbuilt;
        }
        let states = |receiver| -> BTreeMap<&ObjectRef, &State> {
            appliers(receiver).map(|applier| (&applier.reference, &applier.state)).collect()
        };
        let (earlier, later) = (states(before), states(after));
        for (all, is_later) in [(&earlier, false), (&later, true)] {
            let other = if is_later { &earlier } else { &later };
            for (applier, state) in all.iter().filter(|(_, state)| ***state != State::Built) {
                let own = if is_later { &mut unbuilt.after } else { &mut unbuilt.before };
                own.insert((*applier).clone());
                let failed = **state == State::Failed;
                // Nothing can be said about an applier that neither state builds.
                if !failed && other.get(*applier).is_none_or(|state| **state != State::Built) {
                    continue;
                }
                let reason = match state {
                    State::NotBuilt(reason) => reason.to_string(),
                    State::Built | State::Failed => "its build fails".to_owned(),
                };
                let applier = (*applier).clone();
                self.add_one(Unbuilt { applier, is_later, failed, reason, clusters: Vec::new() }, cluster);
            }
        }
        unbuilt
    }

    fn add_one(&mut self, unbuilt: Unbuilt, cluster: &Name) {
        let Self { found, known } = self;
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
