//! Settings: information about a repository that is not in its files.

use super::source::Copy;
use crate::config;
use crate::text::Tree;

/// Information about a repository that is not in its files.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The copies of remote artifacts.
    pub copies: Vec<Copy>,
    /// The configured directories with definitions of kinds.
    pub schemas: Vec<Tree>,
    /// The version of Flux from the command line. It takes precedence over every other version.
    pub flux_version: Option<String>,
    /// The configuration.
    pub config: config::Settings,
    /// The limits of the analysis.
    pub bounds: Bounds,
}

/// The limits of the analysis of a repository. They bound time and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum number of appliers of a cluster. Appliers that always create further appliers have no fixed point.
    pub appliers: usize,
    /// The maximum memory that variables may add to one build, in bytes.
    pub grown_by_one: usize,
    /// The maximum memory that variables may add to all builds, in bytes. Many objects may use one long value.
    pub grown: usize,
}

/// The default maximum number of appliers of a cluster.
const MAX_APPLIERS: usize = 20_000;

/// The default maximum memory that variables may add to one build, in bytes.
const MAX_GROWN_BY_ONE: usize = 64 << 20;

/// The default maximum memory that variables may add to all builds, in bytes.
const MAX_GROWN: usize = 512 << 20;

impl Default for Bounds {
    fn default() -> Self {
        Self { appliers: MAX_APPLIERS, grown_by_one: MAX_GROWN_BY_ONE, grown: MAX_GROWN }
    }
}
