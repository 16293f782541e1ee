//! The resolved fleet: merged settings and derived values.

pub(super) mod dependencies;
pub mod fleet;
pub(super) mod variable;
pub(super) mod derive;
