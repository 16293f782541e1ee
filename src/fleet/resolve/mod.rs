//! The resolved fleet: merged settings and derived values.

pub(super) mod dependencies;
pub mod fleet;
mod decode;
mod on_cluster;
pub(super) mod variable;
pub(super) mod derive;
