//! The rule id that several files of this module use.

/// The rule id for errors in fleet.yaml and in layouts.
pub const INVALID_FLEET: &str = "invalid-fleet";
/// The rule id for errors in a layout.
pub(super) const INVALID_LAYOUT: &str = "invalid-layout";
