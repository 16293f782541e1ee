//! A fast check whether a text can contain a Secret.

/// Tells whether a text is worth reading: most files know of no Secret.
pub(super) fn may_hold_secrets(text: &str) -> bool {
    ["Secret", "secretGenerator", "/data", "/stringData", "HelmRelease"].iter().any(|word| text.contains(word))
}
