//! A version of a kind, with the releases that serve it.

use serde::Deserialize;

use super::version_text::optional;
use crate::kube::version::Version;

/// A version of a kind that a product deprecated or removed, or may do so.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Api {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The first release that serves the version.
    #[serde(default, deserialize_with = "optional")]
    pub since: Option<Version>,
    /// The first release in which the version is deprecated.
    #[serde(default, deserialize_with = "optional")]
    pub deprecated: Option<Version>,
    /// The first release that does not serve the version.
    #[serde(default, deserialize_with = "optional")]
    pub removed: Option<Version>,
    /// The `apiVersion` that replaces it.
    pub replacement: Option<String>,
    /// The kind that replaces it, if it differs.
    pub replacement_kind: Option<String>,
    /// The first release that serves the replacement.
    #[serde(default, deserialize_with = "optional")]
    pub replacement_since: Option<Version>,
}
