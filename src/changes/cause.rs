//! The appliers whose own addition or removal causes changes.

use std::collections::BTreeMap;

use super::model::{Change, What};
use crate::base::finding::ObjectRef;
use crate::yaml::Name;

/// The object of an applier, whether it is added, and the clusters.
type ApplierChange<'a> = (&'a ObjectRef, bool, &'a [Name]);

/// Sets the appliers whose own addition or removal causes changes.
pub(super) fn set_causes(changes: &mut [Change]) {
    let parent = |change: &Change| match &change.what {
        What::Added { by } => Some((by.clone(), true)),
        What::Removed { by } => Some((by.clone(), false)),
        What::Moved { .. } | What::Changed { .. } => None,
    };
    let mut parents: BTreeMap<ApplierChange<'_>, ObjectRef> = BTreeMap::new();
    for change in changes.iter() {
        if let Some((by, is_added)) = parent(change) {
            parents.insert((&change.object, is_added, &change.clusters), by);
        }
    }
    let cause = |change: &Change| {
        let (mut by, is_added) = parent(change)?;
        let mut cause = None;
        // An applier is below its parent, so that the number of steps is limited by the number of changes.
        for _ in 0..parents.len() {
            let Some(next) = parents.get(&(&by, is_added, change.clusters.as_slice())).cloned() else { break };
            cause = Some(std::mem::replace(&mut by, next));
        }
        cause
    };
    let causes: Vec<Option<ObjectRef>> = changes.iter().map(cause).collect();
    for (change, cause) in changes.iter_mut().zip(causes) {
        change.follows = cause;
    }
}
