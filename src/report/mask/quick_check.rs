//! A fast check for texts that may contain secrets.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Parts of the texts around secrets: kinds, fields, and the names of values.
const WORDS: [&str; 28] = [
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
    "earer ",
    "EARER ",
    "asic ",
    "curl ",
];

/// Returns whether a text may contain secrets. Most files do not.
pub(super) fn may_hold_secrets(text: &str) -> bool {
    // One pass over the text for all words. This kind of match permits a search that examines many bytes at once.
    static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(WORDS);
        finder.expect("the words are few and short")
    });
    let has_address = || text.contains("://") && text.contains(['@', '?']);
    FINDER.is_match(text) || has_address()
}

/// Parts of the texts of objects and patches whose fields are secret.
const OBJECTS: [&str; 5] = ["ecret", "ECRET", "/data", "/stringData", "patch"];

/// Returns whether a text may contain a Secret, a generator of Secrets, or a patch on them.
pub(super) fn may_hold_objects(text: &str) -> bool {
    static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(OBJECTS);
        finder.expect("the words are few and short")
    });
    FINDER.is_match(text)
}
