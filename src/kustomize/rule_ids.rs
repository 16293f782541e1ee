//! The rule ids of findings about builds.

/// The rule id for directories that fail to build.
pub const FAILED_BUILD: &str = "failed-build";
/// The rule id for missing files and directories that a kustomization references.
pub const MISSING_RESOURCE: &str = "missing-resource";
