//! The rule ids of findings about builds.

/// The rule of findings about folders that do not build.
pub const FAILED_BUILD: &str = "failed-build";
/// The rule of findings about files and folders that a kustomization names and that are not there.
pub const MISSING_RESOURCE: &str = "missing-resource";
