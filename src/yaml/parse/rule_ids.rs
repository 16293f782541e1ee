//! The rule ids of the parser's findings.

/// The rule of findings about text that is not valid YAML.
pub const INVALID_YAML: &str = "invalid-yaml";
/// The rule of findings about duplicate keys.
pub const DUPLICATE_KEY: &str = "duplicate-key";
