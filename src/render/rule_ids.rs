//! The rules of findings about layouts and what they render.

/// The rule of mistakes in a layout.
pub const INVALID_TEMPLATE: &str = "invalid-template";
/// The rule of what a layout says it cannot do.
pub const LAYOUT_REFUSES: &str = "layout-refuses";
/// The rule of two things that would be rendered to one path.
pub const DUPLICATE_PATH: &str = "duplicate-path";
/// The rule of two things that would be rendered as one object.
pub const DUPLICATE_OBJECT: &str = "duplicate-object";
/// The rule of paths that leave the repository.
pub const PATH_OUTSIDE_REPOSITORY: &str = "path-outside-repository";
