//! The appliers whose own addition or removal causes changes.

use std::collections::BTreeMap;

use super::model::{Change, What};
use crate::base::finding::ObjectRef;
use crate::yaml::Name;

/// The object of an applier, whether it is added, and the clusters.
type ApplierChange<'a> = (&'a ObjectRef, bool, &'a [Name]);

/// Sets the appliers whose own addition or removal causes changes.
pub(super) fn set_causes(changes: &mut [Change]) {
    let mut search = CauseSearch::default();
    for change in changes.iter() {
        if let Some((by, is_added)) = parent(change) {
            search.parents.insert((&change.object, is_added, &change.clusters), by);
        }
    }
    let mut causes: Vec<Option<ObjectRef>> = Vec::with_capacity(changes.len());
    for change in changes.iter() {
        let cause = parent(change).and_then(|(by, is_added)| search.cause((by, is_added, &change.clusters)));
        causes.push(cause.cloned());
    }
    for (change, cause) in changes.iter_mut().zip(causes) {
        change.follows = cause;
    }
}

/// The applier that adds or removes the object of a change, and whether it adds the object.
fn parent(change: &Change) -> Option<(&ObjectRef, bool)> {
    match &change.what {
        What::Added { by } => Some((by, true)),
        What::Removed { by } => Some((by, false)),
        What::Moved { .. } | What::Changed { .. } => None,
    }
}

/// A search for the topmost added or removed applier above an applier.
#[derive(Default)]
struct CauseSearch<'a> {
    /// The applier of each added or removed applier.
    parents: BTreeMap<ApplierChange<'a>, &'a ObjectRef>,
    /// The results so far. Many objects have the same applier.
    known: BTreeMap<ApplierChange<'a>, &'a ObjectRef>,
}

impl<'a> CauseSearch<'a> {
    /// The topmost applier that is added or removed together with an applier; `None` if the applier itself remains.
    fn cause(&mut self, applier: ApplierChange<'a>) -> Option<&'a ObjectRef> {
        let mut walked = Vec::new();
        let mut at = applier;
        // An applier that applies itself is in a cycle. The search ends where it has been before.
        let mut cause = loop {
            if let Some(known) = self.known.get(&at) {
                break Some(*known);
            }
            let Some(next) = self.parents.get(&at) else { break None };
            self.known.insert(at, at.0);
            walked.push(at);
            at = (next, at.1, at.2);
        };
        cause = cause.or_else(|| walked.last().map(|last| last.0));
        if let Some(cause) = cause {
            self.known.extend(walked.into_iter().map(|one| (one, cause)));
        }
        cause
    }
}
