//! What is known of a repository beside its files.

use super::source::Copy;
use crate::config;

/// What is known of a repository beside its files.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Copies of what its sources fetch.
    pub copies: Vec<Copy>,
    /// The version of Flux on its clusters as the command line says it, which goes before all else that says one.
    pub flux_version: Option<String>,
    /// What its configuration says.
    pub config: config::Settings,
}
