//! How the linter judges a repository: the `lint` section of fleet.yaml, which `.fleetwright.yaml` shares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the linter judges a repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// Findings that are accepted, each with its reason.
    #[serde(default)]
    pub exceptions: Vec<Exception>,
}

/// Findings that are accepted: those of a rule, narrowed by objects and paths.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// The rule's id.
    pub rule: String,
    /// Why it is right here.
    pub reason: String,
    /// Objects as `Kind/namespace/name` or `Kind/name`, with `*` for any text; all when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// Globs of paths; all when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}
