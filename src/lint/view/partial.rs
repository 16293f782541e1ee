//! Objects that may be a part of an object: server-side apply adds their fields to the fields of another applier.

use std::collections::BTreeSet;

use super::View;
use crate::flux::Applied;
use crate::kube::ObjectId;
use crate::lint::facts::distinct::memory_address;
use crate::lint::facts::unknown_sources::Producer;

impl View<'_> {
    /// The objects of the cluster that share their identity with another object, by their addresses in memory.
    pub(in crate::lint) fn parts(&self) -> BTreeSet<usize> {
        self.duplicates().flat_map(|(first, further)| [first.object, further.object]).map(memory_address).collect()
    }

    /// Returns whether the chart of a release may create an object. Flux then only adds fields to the object.
    pub(in crate::lint) fn may_be_of_chart(&self, applied: &Applied<'_>) -> bool {
        let id = ObjectId { namespace: applied.namespace().unwrap_or_default(), ..ObjectId::of(applied.object) };
        let may_create = |one: &Producer<'_>| one.is_chart() && (one.refers_to(id.name) || one.may_create_anything());
        !id.is_flux() && self.unknown_sources().of(id).any(may_create)
    }
}
