//! The lock file, which lists the rendered files with the digests of their contents.
//!
//! The lock file has one line per file, `<sha256>  <path>`, sorted, so that Git can merge the changes of two branches.
//! The file is not YAML, so that Flux does not apply it. Several lines for a path list several accepted contents.
//! During a render, the lock lists the old and the new contents, so that the next run can complete an interrupted run.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::output_path::refusal;
use crate::base::finding::Finding;
use crate::text::File;

/// The name of the lock file, in the root of the output directory.
pub const LOCK: &str = ".fleetwright.lock";

/// The rule id for invalid lock files.
pub const INVALID_LOCK: &str = "invalid-lock";

/// The SHA-256 digest of the content of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Computes the digest of the content of a file.
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

/// The content of a lock file: the sorted digests of each path. Almost every path has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, Vec<Digest>>);

impl Lock {
    /// Reads a lock file. Ignores and reports invalid lines, such as merge conflicts and invalid output paths: the lock is
    /// not trusted, and determines the files to delete.
    pub fn parse(file: &File) -> (Self, Vec<Finding>) {
        let mut lock = Self::default();
        let mut findings = Vec::new();
        for (number, line) in (1..).zip(file.text().lines()) {
            if line.is_empty() {
                continue;
            }
            let place = || file.line(number).map_or_else(|| file.first_line(), |range| file.span(range));
            match line.split_once("  ").and_then(|(hex, path)| Some((Digest::parse(hex)?, path))) {
                Some((digest, path)) if refusal(path).is_none() => lock.list(path, digest),
                Some((_, path)) => {
                    let why = refusal(path).unwrap_or_default();
                    let message = format!("the lock lists `{path}`, which is not a valid output path: {why}");
                    findings.push(Finding::error(INVALID_LOCK, place(), message));
                }
                None => {
                    let message = "the line does not consist of a digest and a path";
                    let help =
                        "resolve merge conflicts by keeping the lines of both sides; a path may have several digests";
                    findings.push(Finding::error(INVALID_LOCK, place(), message).help(help));
                }
            }
        }
        for digests in lock.0.values_mut() {
            digests.sort_unstable();
            digests.dedup();
        }
        (lock, findings)
    }

    /// Adds a line of a lock file. The digests of a path are sorted later.
    fn list(&mut self, path: &str, digest: Digest) {
        self.0.entry(path.to_owned()).or_default().push(digest);
    }

    /// Adds a digest of a path.
    pub fn add(&mut self, path: &str, digest: Digest) {
        let digests = self.0.entry(path.to_owned()).or_default();
        if let Err(at) = digests.binary_search(&digest) {
            digests.insert(at, digest);
        }
    }

    /// Returns whether the lock lists a path.
    pub fn lists(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Returns whether the lock lists a path with a digest.
    pub fn has(&self, path: &str, digest: Digest) -> bool {
        self.0.get(path).is_some_and(|digests| digests.contains(&digest))
    }

    /// Returns the listed paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the union of two locks.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for (path, digests) in &other.0 {
            for digest in digests {
                all.add(path, *digest);
            }
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
