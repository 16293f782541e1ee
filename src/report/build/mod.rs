//! Output of the objects of clusters: manifests for `kubectl apply`, or JSON with provenance.

mod delivery;
mod limit;
mod json;
mod yaml;

use std::io::{self, Write};

pub use delivery::{Delivery, Secrets};
pub use json::schema;
use limit::LimitedWriter;
pub use limit::MAX_OUTPUT;

/// The output format of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFormat {
    /// Manifests, with a comment for each applier.
    Yaml,
    /// One JSON document with the provenance of each field.
    Json,
}

/// Writes the objects of receivers. An output of more than [`MAX_OUTPUT`] bytes is an error of the kind
/// [`FileTooLarge`](io::ErrorKind::FileTooLarge).
pub fn write(
    deliveries: &[Delivery<'_>],
    format: BuildFormat,
    secrets: Secrets,
    out: &mut dyn Write,
) -> io::Result<()> {
    let out = &mut LimitedWriter { out, left: MAX_OUTPUT };
    match format {
        BuildFormat::Yaml => yaml::write(deliveries, secrets, out),
        BuildFormat::Json => json::write(deliveries, secrets, out),
    }
}
