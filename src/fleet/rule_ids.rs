//! The rule id that several files of this module use.

/// The rule id for errors in fleet.yaml and in layouts.
pub const INVALID_FLEET: &str = "invalid-fleet";
