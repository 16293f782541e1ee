//! The rule ids of findings about layouts and rendered files.

/// The rule id for errors in a layout.
pub const INVALID_TEMPLATE: &str = "invalid-template";
/// The rule id for settings that a layout does not support.
pub const LAYOUT_REFUSES: &str = "layout-refuses";
/// The rule id for two rendered files with the same path.
pub const DUPLICATE_PATH: &str = "duplicate-path";
/// The rule id for two rendered definitions of the same object.
pub const DUPLICATE_OBJECT: &str = "duplicate-object";
/// The rule id for paths outside the repository.
pub const PATH_OUTSIDE_REPOSITORY: &str = "path-outside-repository";
