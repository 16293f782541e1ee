//! The faults of a `${…}`.

use std::ops::Range;

/// Why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: bytes of the text, from the `${` on.
    pub range: Range<usize>,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// What can be wrong with a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// No name follows `${` or `${#`.
    NoName,
    /// The name is followed by something that is neither `}` nor an operator.
    NotClosed,
    /// An operator lacks its argument, or the text ends in it.
    NoArgument,
    /// An operator is not complete or has too much.
    Malformed,
    /// `${…}` in `${…}`, too deep to follow.
    TooDeep,
    /// No variable has this name, and no default is given.
    NotSet,
    /// A substring ends before it begins, which stops the controller.
    Backwards,
    /// A character of several bytes is cut in two, which no YAML reader accepts.
    CutCharacter,
    /// It would expand to a text of unreasonable size.
    TooLong,
    /// Its pattern takes unreasonably long to match.
    TooSlow,
}
