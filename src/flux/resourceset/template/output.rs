//! The output of a template.

use std::ops::Range;

use crate::text::Span;

/// Stands before and after the name of a value that only the cluster knows, in a text that was made with it.
pub(in crate::flux::resourceset) const UNKNOWN: (char, char) = ('\u{f8f1}', '\u{f8f2}');

/// A text that a template made, and where its pieces come from.
#[derive(Debug, Default)]
pub(in crate::flux::resourceset) struct Output {
    /// The text.
    pub text: String,
    /// The pieces in the order of the text.
    pub pieces: Vec<Piece>,
}

/// A piece of an output, up to where the next one starts.
#[derive(Debug)]
pub(in crate::flux::resourceset) struct Piece {
    /// Where it starts in the output.
    pub start: usize,
    /// Where it comes from.
    pub from: From,
}

/// What made a piece.
#[derive(Debug)]
pub(in crate::flux::resourceset) enum From {
    /// Text of the template, from this offset on.
    Outside(usize),
    /// The action at this range of the template, with the place of the input that it printed.
    Action(Range<usize>, Option<Span>),
}
