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
    /// How much is followed and made at most.
    pub bounds: Bounds,
}

/// What a repository may cost: without bounds, one could take all the time and memory there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many appliers a cluster may have: one that makes further ones without end would never settle.
    pub appliers: usize,
    /// How much variables may make of one build, in bytes of memory.
    pub grown_by_one: usize,
    /// How much they may make of all builds: one long value in many objects would take all there is.
    pub grown: usize,
}

/// How many appliers a cluster may have.
const MAX_APPLIERS: usize = 20_000;

/// How much variables may make of one build, in bytes.
const MAX_GROWN_BY_ONE: usize = 64 << 20;

/// How much variables may make of all builds, in bytes.
const MAX_GROWN: usize = 512 << 20;

impl Default for Bounds {
    fn default() -> Self {
        Self { appliers: MAX_APPLIERS, grown_by_one: MAX_GROWN_BY_ONE, grown: MAX_GROWN }
    }
}
