//! Exit codes, the same for every command.

use std::process::ExitCode;

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// Nothing to report.
    Clean = 0,
    /// Findings, a stale tree, or a decision for the user.
    Found = 1,
    /// The command failed.
    Failed = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
