//! The faults of a template.

/// The error of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::flux::resourceset) struct Fault {
    /// The offset in the text of the template.
    pub at: usize,
    /// The message.
    pub message: String,
    /// Whether the operator supports the template, but this engine does not.
    pub ours: bool,
}

impl Fault {
    /// Creates an error that the operator also reports.
    pub(super) fn error(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: false }
    }

    /// Creates an error for an exceeded limit. Silence would hide the objects from every rule.
    pub(super) fn bound(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: false }
    }

    /// Creates an error for an unsupported feature.
    pub(super) fn limit(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: true }
    }

    /// Sets the position of an error that was created without a position.
    pub(super) fn moved(self, at: usize) -> Self {
        Self { at, ..self }
    }
}
