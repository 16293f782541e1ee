//! The rule of mistakes in fleet.yaml.

/// The rule of a mistake in fleet.yaml or in its layout.
pub const INVALID_FLEET: &str = "invalid-fleet";
