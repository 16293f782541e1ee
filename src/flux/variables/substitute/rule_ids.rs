//! The ids of the rules about variables.

/// The id of the rule about undefined variables.
pub const UNDEFINED_VARIABLE: &str = "undefined-variable";

/// The id of the rule about variables that belong to another program.
pub const SHELL_VARIABLE_SUBSTITUTED: &str = "shell-variable-substituted";
