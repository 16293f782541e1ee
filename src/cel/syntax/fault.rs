//! Faults of the syntax.

use std::ops::Range;

/// The message of the API server for an expression that is too high.
pub(super) const TOO_DEEP: &str = "expression recursion limit exceeded: 250";

/// A fault of the syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The range of the fault, in bytes.
    pub at: Range<usize>,
    /// The reason.
    pub message: String,
}

impl SyntaxError {
    /// Returns whether the expression is higher than the limit of [`parse`].
    pub(crate) fn is_too_deep(&self) -> bool {
        self.message == TOO_DEEP
    }
}
