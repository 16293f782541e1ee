//! What is known of a repository beside its files.

use std::collections::BTreeMap;

use super::source::Copy;
use super::version::Version;

/// What is known of a repository beside its files: from options, and from its configuration.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Copies of what sources fetch.
    pub copies: Vec<Copy>,
    /// The version of Flux that runs everywhere, whatever the repository says.
    pub flux_version: Option<Version>,
    /// The version of Flux on single clusters, by name.
    pub flux_versions: BTreeMap<String, Version>,
    /// The version of Flux where nothing in the repository says it.
    pub default_flux_version: Option<Version>,
}
