//! Versions, as the SemVer library of Flux reads and orders them.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex_lite::Regex;

/// The maximum length of a version that the library accepts, in bytes.
const MAX_LENGTH: usize = 256;

static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?$";
    Regex::new(pattern).expect("the expression is constant")
});

/// A version: `1.2.3`, `v1.2` or `1.2.3-rc.1+build`. Comparisons ignore build metadata.
///
/// Source: `NewVersion` of `github.com/Masterminds/semver/v3`, which accepts missing parts and leading zeros.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// The text after `-`; empty for a release.
    pub prerelease: String,
}

impl Version {
    /// Creates a release version.
    pub fn release(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch, prerelease: String::new() }
    }

    /// Reads a version; `None` if the library rejects it.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let groups = VERSION.captures(text)?;
        let group = |number: usize| groups.get(number).map_or("", |group| group.as_str());
        let number = |text: &str| match text.trim_start_matches('.') {
            "" => Some(0),
            digits => digits.parse().ok(),
        };
        let prerelease = group(5);
        let has_leading_zero =
            |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        if prerelease.split('.').any(has_leading_zero) {
            return None;
        }
        Some(Self {
            major: number(group(1))?,
            minor: number(group(2))?,
            patch: number(group(3))?,
            prerelease: prerelease.into(),
        })
    }

    /// Returns whether the version is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        // A release comes after its prereleases.
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.is_prerelease(), other.is_prerelease()) {
            (true, true) => compare_prereleases(&self.prerelease, &other.prerelease),
            (one, other) => other.cmp(&one),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares prereleases part by part. A prerelease precedes a longer prerelease with the same start.
pub(super) fn compare_prereleases(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (one.split('.'), other.split('.'));
    loop {
        let ordering = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (one, other) => compare_parts(one.unwrap_or_default(), other.unwrap_or_default()),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
}

/// Compares two parts: numbers by value, texts by bytes. A missing part comes first, and a number before a text.
fn compare_parts(one: &str, other: &str) -> Ordering {
    let key = |part: &str| (!part.is_empty(), part.parse::<u64>().is_err(), part.parse::<u64>().unwrap_or_default());
    key(one).cmp(&key(other)).then_with(|| one.cmp(other))
}

/// Orders versions of an API as Kubernetes does: `v1alpha1`, `v1beta1`, `v1`, `v2`. Other texts come first.
pub fn api_version_order(one: &str, other: &str) -> Ordering {
    api_version(one).cmp(&api_version(other)).then_with(|| other.cmp(one))
}

/// The parts of an API version: whether it is one, whether it is stable, and its numbers.
fn api_version(text: &str) -> (bool, u8, u64, u64) {
    let parse = || {
        let (major, suffix) = match text.strip_prefix('v')?.find(|c: char| !c.is_ascii_digit()) {
            Some(end) => text.split_at_checked(end + 1)?,
            None => (text, ""),
        };
        let major = major.strip_prefix('v')?.parse().ok()?;
        Some(match (suffix.strip_prefix("alpha"), suffix.strip_prefix("beta")) {
            (Some(minor), _) => (true, 0, major, minor.parse().ok()?),
            (None, Some(minor)) => (true, 1, major, minor.parse().ok()?),
            (None, None) if suffix.is_empty() => (true, 2, major, 0),
            (None, None) => return None,
        })
    };
    parse().unwrap_or_default()
}
