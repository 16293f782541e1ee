//! A mismatch: what the API server rejects in an object.

use crate::text::Span;

/// A part of an object that the API server rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The fault.
    pub fault: Fault,
    /// The path of the field, such as `spec.containers[0].image`.
    pub path: String,
    /// The position of the key or the value.
    pub at: Span,
    /// The fault in words, which follow the path: `is a string instead of a boolean`.
    pub message: String,
    /// How to correct the field, if the schema shows that.
    pub help: Option<String>,
    /// The name of the field that the author probably intended, instead of the text at the position.
    pub meant: Option<String>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A field that the schema does not declare.
    UnknownField,
    /// A required field is missing.
    Missing,
    /// A value of another type.
    Type,
    /// A value that a constraint of the schema excludes.
    Value,
    /// A text that the API server cannot read, such as a quantity.
    Notation,
    /// Two items of a list with the same key.
    Duplicate,
    /// An invalid name, label or another part of `metadata`.
    Metadata,
    /// A CEL rule of the schema is not true.
    Rule,
    /// A CEL rule of the schema does not compile.
    Unchecked,
    /// A CEL rule or the patterns of the schema take too many steps.
    Limit,
}
