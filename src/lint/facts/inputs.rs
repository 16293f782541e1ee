//! The sources, variables and values that Flux objects read from other objects.

use std::sync::Arc;

use crate::flux::{Applied, Applier};
use crate::kube::{Object, ObjectId};
use crate::lint::refs::source_reference::source_of;
use crate::lint::refs::values_reference::values_of;
use crate::yaml::Node;

/// A Flux object that may read from other objects.
pub(crate) struct Reader<'a> {
    /// The object.
    pub(crate) object: &'a Object,
    /// The applier that applies the object, or the applier that the object defines.
    pub(crate) by: &'a Arc<Applier>,
    /// Whether the object defines `by`.
    pub(crate) is_itself: bool,
}

/// An object that a Flux object reads from.
pub(crate) struct Input<'a> {
    /// The object that reads the input.
    pub(crate) user: &'a Object,
    /// The applier that applies the user, or the applier that the user defines.
    pub(crate) by: &'a Arc<Applier>,
    /// Whether the user defines `by`.
    pub(crate) is_itself: bool,
    /// The reference.
    pub(crate) node: &'a Node,
    /// The object that is read.
    pub(crate) target: ObjectId<'a>,
    /// The object that is read, or the object from which a controller creates it, with its applier.
    pub(crate) thing: Applied<'a>,
}

impl Input<'_> {
    /// Returns whether a controller creates the object that is read.
    pub(crate) fn is_produced(&self) -> bool {
        (self.thing.object.group(), self.thing.object.kind()) != (self.target.group, self.target.kind)
    }
}

/// The inputs of some objects, without optional inputs.
///
/// `find` looks up an object of the cluster, or the object from which a controller creates it.
pub(crate) fn inputs<'a>(
    readers: impl Iterator<Item = Reader<'a>>,
    find: impl Fn(ObjectId<'a>) -> Option<Applied<'a>>,
) -> Vec<Input<'a>> {
    let mut found = Vec::new();
    for Reader { object: user, by, is_itself } in readers {
        let source = source_of(user).map(|source| (source.node, source.target));
        let values = values_of(user).filter(|values| !values.optional).map(|values| (values.node, values.target));
        for (node, target) in source.into_iter().chain(values) {
            if let Some(thing) = find(target) {
                found.push(Input { user, by, is_itself, node, target, thing });
            }
        }
    }
    found
}
