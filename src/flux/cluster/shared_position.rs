//! Positions in shared builds.
//!
//! Clusters whose Kustomizations have the same content share a build, and its nodes have the positions of one of these
//! Kustomizations. To find a position in another Kustomization, `counterpart` compares the two Kustomizations node by
//! node. The fields that affect the build have the same structure in both Kustomizations.

use std::ops::Range;

use super::applier::Applier;
use crate::kube::Object;
use crate::text::{File, Span};
use crate::yaml::{Node, Value};

impl Applier {
    /// The position in this applier's own object that corresponds to a position in a build for another applier.
    pub(crate) fn own_place(&self, shown: &Span) -> Span {
        let Some(own) = &self.object else { return shown.clone() };
        let found = self.shares_with.iter().find_map(|other| counterpart(&other.node, &own.node, shown));
        found.unwrap_or_else(|| shown.clone())
    }

    /// The position that corresponds to a position in this applier's object. That object may itself be part of a shared
    /// build.
    pub(crate) fn place_in_parent(&self, own: &Span) -> Span {
        match &self.parent_applier {
            Some(parent) => parent.place_in_parent(&parent.own_place(own)),
            None => own.clone(),
        }
    }

    /// The position on this cluster that corresponds to a position in the objects of this applier.
    pub fn place(&self, shown: &Span) -> Span {
        self.place_in_parent(&self.own_place(shown))
    }
}

/// Returns whether two objects share their content in memory, and therefore their positions.
pub(crate) fn is_shared(one: &Object, other: &Object) -> bool {
    match (&one.node.value, &other.node.value) {
        (Value::Map(one), Value::Map(other)) => one.is_same(other),
        _ => false,
    }
}

/// The position in `own` that corresponds to a position in `other`, a node with the same structure; `None` if the
/// position is not in `other`.
fn counterpart(other: &Node, own: &Node, shown: &Span) -> Option<Span> {
    match (&other.value, &own.value) {
        (Value::Seq(theirs), Value::Seq(ours)) => {
            let found = theirs.iter().zip(ours.iter()).find_map(|(other, own)| counterpart(other, own, shown));
            found.or_else(|| whole(other, own, shown))
        }
        (Value::Map(theirs), Value::Map(_)) => {
            // Fields that do not affect the build, such as `healthChecks`, may differ.
            let mut pairs = theirs.iter().filter_map(|other| Some((other, own.entry(&other.key)?)));
            let found = pairs.find_map(|(other, own)| {
                let key = || (other.key_span() == *shown).then(|| own.key_span());
                counterpart(&other.node, &own.node, shown).or_else(key)
            });
            found.or_else(|| whole(other, own, shown))
        }
        // A position inside a text, such as a patch, has the same offset from the start of the text.
        _ => {
            let offset = inside(other.span().file(), &other.span().range(), shown)?;
            let start = own.span().range().start;
            Some(own.span().file().span(start + offset.start..start + offset.end))
        }
    }
}

fn whole(other: &Node, own: &Node, shown: &Span) -> Option<Span> {
    (other.span() == shown).then(|| own.span().clone())
}

/// The range of a position relative to a range of a file; `None` if the position is not inside that range.
fn inside(file: &File, range: &Range<usize>, shown: &Span) -> Option<Range<usize>> {
    let place = shown.range();
    let is_inside = range.start <= place.start && place.end <= range.end && shown.file() == file;
    is_inside.then(|| place.start - range.start..place.end - range.start)
}
