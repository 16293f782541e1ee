//! Positions in the object of an applier.

use crate::flux::Applier;
use crate::text::Span;

/// A position in the object of an applier, as it is on the cluster of the applier.
pub(crate) fn own_position(applier: &Applier, span: &Span) -> Span {
    applier.brought_by.as_ref().map_or_else(|| span.clone(), |by| by.place(span))
}
