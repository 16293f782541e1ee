//! The objects that a cluster receives, by identity.

use std::collections::BTreeMap;

use crate::flux::{Applied, AppliedSet, ApplyMode, Receiver};
use crate::kube::ObjectKey;

/// The objects of a receiver. If several appliers apply an object, the first one counts.
pub(super) fn received<'a>(receiver: &Receiver<'a>) -> BTreeMap<ObjectKey, Applied<'a>> {
    let mut objects = BTreeMap::new();
    for applied in receiver.applied_sets().flat_map(AppliedSet::applied) {
        if applied.apply_mode() != ApplyMode::Ignored {
            objects.entry(ObjectKey::of(applied.object)).or_insert(applied);
        }
    }
    objects
}
