//! The faults of an expression that the type checker reports.

use std::ops::Range;

/// A fault of an expression that parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeError {
    /// The range of the fault, in bytes.
    pub at: Range<usize>,
    /// The reason, as the API server words it.
    pub message: String,
}
