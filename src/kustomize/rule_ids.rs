//! The rule ids of findings about builds.

/// The rule of findings about directories that fail to build.
pub const FAILED_BUILD: &str = "failed-build";
/// The rule of findings about files and directories that a kustomization references and that do not exist.
pub const MISSING_RESOURCE: &str = "missing-resource";
