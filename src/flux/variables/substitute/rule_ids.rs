//! The rules of variables.

/// The rule of variables that nothing defines.
pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

/// The rule of variables that a text means for another program.
pub const SHELL_VARIABLE_SUBSTITUTED: &str = "shell-variable-substituted";
