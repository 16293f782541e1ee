//! The faults of a template.

/// Why a template gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::flux::resourceset) struct Fault {
    /// Where in the template's text.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// Whether the operator would expand it and only we do not.
    pub ours: bool,
}

impl Fault {
    /// The operator refuses it too.
    pub(super) fn error(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: false }
    }

    /// It needs more than is done here.
    pub(super) fn limit(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), ours: true }
    }

    /// The same fault at the place of the call, for functions, which do not know it.
    pub(super) fn moved(self, at: usize) -> Self {
        Self { at, ..self }
    }
}
