//! A fast check for texts that may contain secrets.

/// Returns whether a text may contain secrets. Most files do not.
pub(super) fn may_hold_secrets(text: &str) -> bool {
    ["Secret", "secretGenerator", "/data", "/stringData", "HelmRelease"].iter().any(|word| text.contains(word))
}
