//! What clusters receive: manifests for people and for `kubectl apply`, or JSON with provenance.

mod delivery;
mod json;
mod yaml;

use std::io::{self, Write};

pub use delivery::{Delivery, Secrets};
pub use json::schema;

/// A way to write what clusters receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFormat {
    /// Manifests, with a comment for each applier.
    Yaml,
    /// One JSON document with the provenance of each field.
    Json,
}

/// Writes deliveries.
pub fn write(
    deliveries: &[Delivery<'_>],
    format: BuildFormat,
    secrets: Secrets,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        BuildFormat::Yaml => yaml::write(deliveries, secrets, out),
        BuildFormat::Json => json::write(deliveries, secrets, out),
    }
}
