//! The files that may contain policies.

use std::path::Path;

/// Returns whether a path is that of a YAML file.
pub(super) fn is_yaml(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "yaml" | "yml"))
}
