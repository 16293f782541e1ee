//! Files that accompany an installed binary: shell completions and manual pages.

pub(super) mod completions;
pub(super) mod man;
