//! The reasons why an expression has no value.

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The value depends on a value that the repository does not contain, such as an encrypted one.
    #[error("the value is unknown")]
    Unknown,
    /// The API server would report this error.
    #[error("{0}")]
    Error(String),
    /// The expression does not end within the budget, or it creates a value that is too large.
    #[error("the expression exceeds its cost limit")]
    Limit,
}

impl Failure {
    /// Creates an error of the expression.
    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }

    /// The error of a function that does not accept the types of its arguments.
    pub(super) fn no_overload() -> Self {
        Self::error("no such overload")
    }
}
