//! The rule ids of variables.

/// The rule of undefined variables.
pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

/// The rule of variables that belong to another program.
pub const SHELL_VARIABLE_SUBSTITUTED: &str = "shell-variable-substituted";
