//! Versions in the table of releases, as texts.

use serde::Deserialize;

use crate::kube::version::Version;

/// Reads a version from its text.
pub(super) fn version<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let text = String::deserialize(deserializer)?;
    Version::parse(&text).ok_or_else(|| serde::de::Error::custom("not a version"))
}

/// Reads a version from its text, if there is one.
pub(super) fn optional<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Version>, D::Error> {
    version(deserializer).map(Some)
}
