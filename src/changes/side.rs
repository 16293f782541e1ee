//! A state of a repository.

use crate::flux::{Receiver, Repo};
use crate::lint::Options;

/// One state of a repository.
pub struct Side<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The receivers to compare.
    pub receivers: &'a [Receiver<'a>],
    /// The settings, which determine the tenants.
    pub options: &'a Options,
}
