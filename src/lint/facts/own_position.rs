//! Positions in the object of an applier.

use crate::flux::Applier;
use crate::text::Span;

/// The position of a span in the object of an applier, as the parent applier places it.
pub(crate) fn own_position(applier: &Applier, span: &Span) -> Span {
    applier.parent_applier.as_ref().map_or_else(|| span.clone(), |by| by.place(span))
}
