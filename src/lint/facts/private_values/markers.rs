//! The markers in private values, and the search for all markers at once.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::{memchr, memchr2};

/// A text that private values contain.
#[derive(Debug, Clone, Copy)]
pub(super) enum Marker {
    /// The start of a key in PEM format.
    Key,
    /// The start of a key or certificate in DER format, in base64.
    Der,
    /// The prefix of a token, with its minimum length and its kind.
    Token(&'static str, usize, &'static str),
}

/// The prefixes of tokens, the minimum length with the prefix, and the kind of the token.
///
/// Sources: the documentation of the issuers; GitHub's list of secret scanning patterns.
const TOKENS: [(&str, usize, &str); 31] = [
    ("ghp_", 36, "a GitHub token"),
    ("gho_", 36, "a GitHub token"),
    ("ghu_", 36, "a GitHub token"),
    ("ghs_", 36, "a GitHub token"),
    ("ghr_", 36, "a GitHub token"),
    ("github_pat_", 40, "a GitHub token"),
    ("glpat-", 26, "a GitLab token"),
    ("gldt-", 25, "a GitLab token"),
    ("glrt-", 25, "a GitLab token"),
    ("xoxb-", 30, "a Slack token"),
    ("xoxp-", 30, "a Slack token"),
    ("xapp-", 30, "a Slack token"),
    ("sk_live_", 24, "a Stripe key"),
    ("rk_live_", 24, "a Stripe key"),
    ("AIza", 39, "a Google key"),
    ("GOCSPX-", 30, "a Google client secret"),
    ("npm_", 40, "an npm token"),
    ("dop_v1_", 60, "a DigitalOcean token"),
    ("hvs.", 28, "a Vault token"),
    ("SG.", 60, "a SendGrid key"),
    ("tskey-auth-", 24, "a Tailscale key"),
    ("tskey-client-", 24, "a Tailscale key"),
    ("dckr_pat_", 30, "a Docker Hub token"),
    ("pypi-AgEIcHlwaS5vcmc", 60, "a PyPI token"),
    ("sk-ant-", 40, "an Anthropic key"),
    ("sk-proj-", 40, "an OpenAI key"),
    ("glsa_", 40, "a Grafana token"),
    ("ATATT3", 60, "an Atlassian token"),
    ("AGE-SECRET-KEY-1", 60, "an age secret key"),
    ("AGE-SECRET-KEY-PQ-1", 60, "an age secret key"),
    (JWT, 80, "a JSON Web Token"),
];

/// The start of a JSON Web Token: `{"` in base64.
pub(super) const JWT: &str = "eyJ";

/// The rest of a text after the prefix of a token; `None` without such a prefix.
pub(super) fn without_token_prefix(text: &str) -> Option<&str> {
    TOKENS.iter().find_map(|(prefix, ..)| text.strip_prefix(prefix))
}

/// The start of a key in PEM format.
pub(super) const KEY: &str = "-----BEGIN ";

/// The starts of base64 for a sequence in DER format whose length has one or two bytes, and for a short key of an elliptic
/// curve.
const DER: [&str; 3] = ["MHcCAQEE", "MIG", "MII"];

/// The separator of the scheme of an address.
const ADDRESS: &str = "://";

/// Parts of the names of private values, in lower case.
const NAMES: [&str; 8] = ["pass", "oken", "ecret", "key", "auth", "pwd", "redential", "jwt"];

/// Returns whether a text contains an address.
pub(super) fn contains_address(text: &str) -> bool {
    memchr(b':', text.as_bytes()).is_some() && text.contains(ADDRESS)
}

/// The keys and tokens in a text with their positions, in order. They may overlap.
pub(super) fn markers(text: &str) -> impl Iterator<Item = (usize, Marker)> {
    static MARKERS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let prefixes = TOKENS.iter().map(|(prefix, ..)| *prefix);
        AhoCorasick::new(prefixes.chain([KEY]).chain(DER)).expect("the markers are few and short")
    });
    // This search examines many bytes at once, and most texts contain no marker.
    static ANY: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let prefixes = TOKENS.iter().map(|(prefix, ..)| *prefix);
        let finder =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(prefixes.chain([KEY]).chain(DER));
        finder.expect("the markers are few and short")
    });
    let found = ANY.is_match(text).then(|| MARKERS.find_overlapping_iter(text));
    found.into_iter().flatten().map(|found| {
        let marker = match TOKENS.get(found.pattern().as_usize()) {
            Some((prefix, length, what)) => Marker::Token(prefix, *length, what),
            None if found.pattern().as_usize() == TOKENS.len() => Marker::Key,
            None => Marker::Der,
        };
        (found.start(), marker)
    })
}

/// A search that is built for speed: it reads each byte once, in either case.
static NAME_FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let kind = Some(AhoCorasickKind::DFA);
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).prefilter(false).build(NAMES);
    finder.expect("the names are few and short")
});

/// Returns whether a name may be that of a private value: a fast check that excludes most names.
pub fn may_name_secrets(name: &str) -> bool {
    NAME_FINDER.is_match(name)
}

/// The ranges of the names in a text, in order.
fn names_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    NAME_FINDER.find_iter(text).map(|found| found.range())
}

/// The characters that separate a name in a text from the rest.
const SEPARATORS: [char; 8] = [':', '=', '\n', '"', '\'', ',', '{', '['];

/// Returns whether a text may give a value to a name that `is_private` accepts: as `NAME: value`, as `NAME=value`, or as
/// `name: NAME` beside a `value`. The check excludes most texts and finds too much rather than too little.
///
/// `is_private` also gets the value, if it is certain in every format.
pub(super) fn may_assign(text: &str, is_private: impl Fn(&str, Option<&str>) -> bool) -> bool {
    let mut next = 0;
    // Every notation has one of these signs, and many texts have none.
    if memchr2(b':', b'=', text.as_bytes()).is_none() {
        return false;
    }
    names_in(text).any(|found| {
        // The rest of a name that was examined contains no further name.
        if found.start < next {
            return false;
        }
        let (before, after) = text.split_at(found.end);
        let start = before.rfind(SEPARATORS).map_or(0, |at| at + 1);
        let end = found.end + after.find(SEPARATORS).unwrap_or(after.len());
        next = end;
        let name = text.get(start..end).unwrap_or_default().trim_start_matches(['-', ' ']).trim_end();
        let last = name.rsplit(char::is_whitespace).next().unwrap_or_default();
        let accepts = |value| is_private(name, value) || is_private(last, value);
        let between = [' ', '\t', '"', '\'', '\\', '\r', '\n'];
        let rest = text.get(end..).unwrap_or_default();
        let assigned = rest.trim_start_matches(between);
        if assigned.starts_with([':', '=']) {
            let is_simple = !rest.strip_suffix(assigned).is_some_and(|gap| gap.contains(['\\', '\n']));
            return accepts(assigned.strip_prefix(':').filter(|_| is_simple).and_then(value_of));
        }
        let key = text.get(..start).unwrap_or_default().trim_end_matches(between);
        let is_variable = key.strip_suffix(':').is_some_and(|key| key.trim_end_matches(between).ends_with("name"));
        is_variable && accepts(None)
    })
}

/// The maximum length of the text in which a value is searched, in bytes. A line may have many names.
const MAX_VALUE: usize = 1024;

/// The value after a colon, if YAML and JSON agree on it: an empty text for a collection, whose values have other names, or
/// a scalar without escapes.
fn value_of(text: &str) -> Option<&str> {
    let (rest, more) = text.split_at(text.floor_char_boundary(MAX_VALUE));
    let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
    let is_whole_line = more.is_empty() || line.len() < rest.len();
    let line = line.trim();
    match line.chars().next() {
        None => {
            let mut lines = below.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            let first = lines.next()?;
            let is_collection = first.starts_with(['{', '[']) || first.starts_with("- ");
            let is_key = !first.starts_with(['"', '\'', '|', '>', '?', '&', '!'])
                && (first.ends_with(':') || first.contains(": "));
            (is_collection || is_key).then_some("")
        }
        Some('{' | '[') => Some(""),
        Some(quote @ ('"' | '\'')) => {
            let (value, after) = line.get(1..)?.split_once(quote)?;
            let is_end = after.is_empty() || after.starts_with([' ', ',', '}', ']']);
            (is_end && !value.contains('\\')).then_some(value)
        }
        Some('#' | '|' | '>' | '&' | '*' | '!' | '%' | '@' | '`') => None,
        Some(_) if !is_whole_line => None,
        Some(_) => {
            // Few lines have a comment.
            let comment = memchr(b'#', line.as_bytes()).and_then(|_| line.split_once(" #"));
            let value = comment.map_or(line, |(value, _)| value.trim_end());
            let is_whole = value.starts_with("${") || !value.contains([',', ']', '}']);
            (is_whole && !value.contains('\\')).then_some(value)
        }
    }
}
