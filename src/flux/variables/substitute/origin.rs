//! Provenance of values that a variable has changed.

use std::sync::Arc;

use super::values::Values;
use crate::flux::variables::envsubst::expand::{Expansion, Piece as Expanded};
use crate::yaml::{ChangedBy, Name, Origin, Piece, ValueChange};

/// The origin of a scalar that variables have changed: the first variable, and the ranges of all variables.
///
/// `pieces` is empty if the ranges are unknown.
pub(super) fn by(was: &Origin, name: Name, pieces: Vec<Piece>) -> Origin {
    let pieces = pieces.into_boxed_slice();
    Origin::Via(Arc::new(ValueChange::new(ChangedBy::Variable(name), Some(was.clone()), pieces)))
}

/// Returns whether two results for one scalar have the same variables at the same ranges.
pub(super) fn is_equal(one: &Origin, other: &Origin) -> bool {
    let (Origin::Via(one), Origin::Via(other)) = (one, other) else { return false };
    let (ChangedBy::Variable(name), ChangedBy::Variable(other_name)) = (&one.by, &other.by) else { return false };
    name == other_name && one.pieces == other.pieces
}

/// The origin of a scalar after its expansion, whose value prints as `text`; unchanged if the scalar has no
/// variable.
pub(super) fn of(was: &Origin, expansion: &Expansion, text: &str, values: &Values<'_>) -> Origin {
    let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let made = |piece: &Expanded| {
        let name = values.name(piece.variable.as_deref()?);
        Some((narrow(piece.output.start)..narrow(piece.output.end), name))
    };
    let mut pieces: Vec<Piece> = expansion.pieces.iter().filter_map(made).collect();
    let Some((_, first)) = pieces.first().cloned() else { return was.clone() };
    if expansion.text != text {
        // `yes` has become `true`, so the ranges do not apply to the text.
        pieces = vec![(0..narrow(text.len()), first.clone())];
    }
    by(was, first, pieces)
}
