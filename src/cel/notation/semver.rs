//! Versions, as the library `blang/semver` reads them. It is stricter than the library of Flux (`kube::version`).

use std::borrow::Cow;
use std::cmp::Ordering;

/// A version with exactly three numbers. Comparisons ignore build metadata; equality does not need it either.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Semver {
    /// The first, second and third number.
    pub numbers: [u64; 3],
    prerelease: Prerelease,
}

/// The identifiers after `-`; a release has none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Prerelease(Vec<Identifier>);

/// An identifier of a prerelease. A number precedes every text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(Box<str>),
}

impl Semver {
    /// Reads a version.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (numbers, prerelease) = text.split_once('-').map_or((text, None), |(text, rest)| (text, Some(rest)));
        let mut numbers = numbers.split('.');
        let mut number = || numbers.next().and_then(number);
        let parsed = [number()?, number()?, number()?];
        if numbers.next().is_some() || build.is_some_and(|build| !build.split('.').all(is_identifier)) {
            return None;
        }
        let identifiers = prerelease.map_or(Some(Vec::new()), |text| text.split('.').map(identifier).collect())?;
        Some(Self { numbers: parsed, prerelease: Prerelease(identifiers) })
    }

    /// Reads a version that may have a `v`, leading zeros, and fewer than three numbers.
    pub fn parse_normalized(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<Cow<'_, str>> = text.splitn(3, '.').map(without_zeros).collect();
        if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return None;
        }
        parts.resize(3, Cow::Borrowed("0"));
        Self::parse(&parts.join("."))
    }
}

/// Removes the leading zeros of a part, but keeps the last.
fn without_zeros(part: &str) -> Cow<'_, str> {
    if part.len() < 2 {
        return part.into();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|c: char| c.is_ascii_digit()) { rest.into() } else { format!("0{rest}").into() }
}

fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_number.then(|| text.parse().ok())?
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn identifier(text: &str) -> Option<Identifier> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text).map(Identifier::Number);
    }
    is_identifier(text).then(|| Identifier::Text(text.into()))
}

impl Ord for Prerelease {
    fn cmp(&self, other: &Self) -> Ordering {
        // A release follows its prereleases.
        self.0.is_empty().cmp(&other.0.is_empty()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Prerelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
