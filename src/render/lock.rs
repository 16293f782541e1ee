//! The lock file: which files fleetwright wrote, and with which content.
//!
//! One sorted line per file, so that the changes of two branches merge: `<sha256>  <path>`. It is no YAML, so that Flux
//! never applies it. Several lines for one path mean several contents that are ours: while files are being written, the
//! lock lists the old and the new ones, so that a run that is killed is repaired by the next.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::base::finding::Finding;
use crate::text::{File, normalize};

/// The name of the lock file, beside the files that it lists.
pub const LOCK: &str = ".fleetwright.lock";

/// The rule of lock files that cannot be right.
pub const INVALID_LOCK: &str = "invalid-lock";

/// The SHA-256 digest of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a content.
    pub fn of(content: &str) -> Self {
        Self(Sha256::digest(content.as_bytes()).into())
    }

    fn parse(hex: &str) -> Option<Self> {
        let (pairs, odd) = hex.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        bytes?.try_into().ok().filter(|_| odd.is_empty()).map(Self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What a lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, BTreeSet<Digest>>);

impl Lock {
    /// Reads a lock file. Lines that cannot be right are findings and list nothing: a conflict that git left, or a path
    /// that leads out of the folder.
    pub fn parse(file: &File) -> (Self, Vec<Finding>) {
        let mut lock = Self::default();
        let mut findings = Vec::new();
        for (number, line) in (1..).zip(file.text().lines()) {
            if line.is_empty() {
                continue;
            }
            let place = || file.line(number).map_or_else(|| file.first_line(), |range| file.span(range));
            match line.split_once("  ").and_then(|(hex, path)| Some((Digest::parse(hex)?, path))) {
                Some((digest, path)) if is_inside_and_plain(path) => lock.add(path, digest),
                Some((_, path)) => {
                    let message = format!("the lock lists `{path}`, which is no file that could be rendered");
                    findings.push(Finding::error(INVALID_LOCK, place(), message));
                }
                None => {
                    let message = "this line of the lock is no digest with a path";
                    let help =
                        "resolve the conflict by keeping the lines of both sides: several digests of one path are fine";
                    findings.push(Finding::error(INVALID_LOCK, place(), message).help(help));
                }
            }
        }
        (lock, findings)
    }

    /// Adds a digest to those of a path.
    pub fn add(&mut self, path: &str, digest: Digest) {
        self.0.entry(path.to_owned()).or_default().insert(digest);
    }

    /// Tells whether a file is listed.
    pub fn lists(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Tells whether a file is listed with a content.
    pub fn has(&self, path: &str, digest: Digest) -> bool {
        self.0.get(path).is_some_and(|digests| digests.contains(&digest))
    }

    /// The listed paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Both locks' lines.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (path, digests) in &other.0 {
            all.0.entry(path.clone()).or_default().extend(digests);
        }
        all
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, digests) in &self.0 {
            digests.iter().try_for_each(|digest| writeln!(f, "{digest}  {path}"))?;
        }
        Ok(())
    }
}

/// A lock decides which files are deleted, and it may come from anybody's branch.
fn is_inside_and_plain(path: &str) -> bool {
    let is_normal = normalize(path).as_deref() == Some(path);
    let has_git = path.split('/').any(|segment| segment.eq_ignore_ascii_case(".git"));
    is_normal && !has_git && !path.is_empty() && path != LOCK && !path.contains(['\\', '\0'])
}
