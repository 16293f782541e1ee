//! Where what a variable has changed comes from.

use std::sync::Arc;

use super::values::Values;
use crate::flux::variables::envsubst::expand::{Expansion, Piece as Expanded};
use crate::yaml::{By, Name, Origin, Piece, Step};

/// The origin of a scalar that variables have changed: the first of them, and all by their ranges.
///
/// `pieces` may be those of one scalar's own text, or none where its text is not known by ranges.
pub(super) fn by(was: &Origin, name: Name, pieces: Vec<Piece>) -> Origin {
    let pieces = pieces.into_boxed_slice();
    Origin::Via(Arc::new(Step::new(By::Variable(name), Some(was.clone()), pieces)))
}

/// The origin of a scalar whose own text was expanded, to a value that is then printed as `text`; the old one when it
/// reads no variable.
pub(super) fn of(was: &Origin, expansion: &Expansion, text: &str, values: &Values<'_>) -> Origin {
    let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let made = |piece: &Expanded| {
        let name = values.name(piece.variable.as_deref()?);
        Some((narrow(piece.output.start)..narrow(piece.output.end), name))
    };
    let mut pieces: Vec<Piece> = expansion.pieces.iter().filter_map(made).collect();
    let Some((_, first)) = pieces.first().cloned() else { return was.clone() };
    if expansion.text != text {
        // `yes` is `true` now, so its ranges are none of the text.
        pieces = vec![(0..narrow(text.len()), first.clone())];
    }
    by(was, first, pieces)
}
