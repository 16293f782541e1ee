//! A fast check for texts that may contain secrets.

/// Returns whether a text may contain secrets. Most files do not.
pub(super) fn may_hold_secrets(text: &str) -> bool {
    let words = [
        "ecret",
        "ECRET",
        "/data",
        "/stringData",
        "assw",
        "ASSW",
        "assphrase",
        "ASSPHRASE",
        "oken",
        "OKEN",
        "Key",
        "_KEY",
        "_key",
        "-key",
        "apikey",
        "authkey",
        "KEY-----",
        "_PASS",
        "-pass",
        "_pass",
        "Pass",
        "pwd",
        "PWD",
        "hook",
    ];
    let has_address = || text.contains("://") && (text.contains('@') || text.contains('?'));
    words.iter().any(|word| text.contains(word)) || has_address()
}
