//! What the shell is told, the same for every command.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Nothing to report.
    Clean = 0,
    /// Findings, a stale tree, or something that the user has to decide.
    Found = 1,
    /// The work could not be done.
    Failed = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
