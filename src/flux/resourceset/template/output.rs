//! The output of a template.

use std::ops::Range;

use crate::text::Span;

/// The marks around the name of an unknown value in a text that contains the value.
pub(in crate::flux::resourceset) const UNKNOWN: (char, char) = ('\u{f8f1}', '\u{f8f2}');

/// The output of a template.
#[derive(Debug, Default)]
pub(in crate::flux::resourceset) struct Output {
    /// The text.
    pub text: String,
    /// The pieces in the order of the text.
    pub pieces: Vec<Piece>,
}

/// A piece of an output, up to the start of the next piece.
#[derive(Debug)]
pub(in crate::flux::resourceset) struct Piece {
    /// The offset in the output.
    pub start: usize,
    /// The source of the text.
    pub from: From,
}

/// The source of a piece.
#[derive(Debug)]
pub(in crate::flux::resourceset) enum From {
    /// Text of the template, from this offset on.
    Outside(usize),
    /// The action at this range of the template, with the position of the printed input.
    Action(Range<usize>, Option<Span>),
}
