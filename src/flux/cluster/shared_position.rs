//! Places that shared builds show, as each cluster knows them.
//!
//! Clusters whose Kustomizations say the same share a build, and its nodes have the places of one of these. Another
//! one's places are found by going through both objects side by side: they have the same form.

use std::ops::Range;

use super::applier::Applier;
use crate::kube::Object;
use crate::text::{File, Span};
use crate::yaml::{Node, Value};

impl Applier {
    /// The place, in this applier's own object, of a place that a build on behalf of another one shows.
    pub(crate) fn own_place(&self, shown: &Span) -> Span {
        let Some(own) = &self.object else { return shown.clone() };
        let found = self.shares_with.iter().find_map(|other| counterpart(&other.node, &own.node, shown));
        found.unwrap_or_else(|| shown.clone())
    }

    /// The same for a place in this applier's object, which shared builds may have brought too.
    pub(crate) fn settled_place(&self, own: &Span) -> Span {
        match &self.brought_by {
            Some(parent) => parent.settled_place(&parent.own_place(own)),
            None => own.clone(),
        }
    }

    /// Where a place that its objects show is on this cluster.
    pub fn place(&self, shown: &Span) -> Span {
        self.settled_place(&self.own_place(shown))
    }
}

/// Tells whether two objects share their content in memory, and with it their positions.
pub(crate) fn is_shared(one: &Object, other: &Object) -> bool {
    match (&one.node.value, &other.node.value) {
        (Value::Map(one), Value::Map(other)) => std::sync::Arc::ptr_eq(one, other),
        _ => false,
    }
}

/// The place in `own` of a place in `other`, a node of the same form; `None` when it lies elsewhere.
fn counterpart(other: &Node, own: &Node, shown: &Span) -> Option<Span> {
    match (&other.value, &own.value) {
        (Value::Seq(theirs), Value::Seq(ours)) => {
            let found = theirs.iter().zip(ours.iter()).find_map(|(other, own)| counterpart(other, own, shown));
            found.or_else(|| whole(other, own, shown))
        }
        (Value::Map(theirs), Value::Map(ours)) => {
            let found = theirs.iter().zip(ours.iter()).find_map(|(other, own)| {
                let key = || (other.key_span() == *shown).then(|| own.key_span());
                counterpart(&other.node, &own.node, shown).or_else(key)
            });
            found.or_else(|| whole(other, own, shown))
        }
        // What is read from inside a text, such as a patch, lies at the same distance from its start.
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

/// The range of a place within a range of a file.
fn inside(file: &File, range: &Range<usize>, shown: &Span) -> Option<Range<usize>> {
    let place = shown.range();
    let lies = range.start <= place.start && place.end <= range.end && shown.file() == file;
    lies.then(|| place.start - range.start..place.end - range.start)
}
