//! The faults of a `${…}`.

use std::ops::Range;

/// The reason why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range in the text, which starts at the `${`.
    pub range: Range<usize>,
    /// The kind of the fault.
    pub kind: FaultKind,
}

/// The kind of a fault in a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The name after `${` or `${#` is missing.
    NoName,
    /// The character after the name is neither `}` nor an operator.
    NotClosed,
    /// An operator has no argument, or the text ends in the argument.
    NoArgument,
    /// An operator is incomplete, or has superfluous text.
    Malformed,
    /// `${…}` is nested too deeply.
    TooDeep,
    /// The variable is not set and has no default.
    NotSet,
    /// A substring ends before it starts, which crashes the controller.
    Backwards,
    /// A substring splits a character of several bytes. The result is not valid YAML.
    CutCharacter,
    /// The expansion is too long.
    TooLong,
    /// The pattern is too expensive to match.
    TooSlow,
}
