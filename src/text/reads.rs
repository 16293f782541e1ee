//! A record of what a computation reads from trees. A result is valid for another tree that agrees on all reads.

use std::cell::RefCell;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// One question to a tree, as a hash. Different questions may have the same hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u64);

/// The questions to trees during a computation, sorted.
#[derive(Debug, Clone, Default)]
pub struct Reads(Arc<[Read]>);

thread_local! {
    /// The open records of this thread, the innermost last.
    static OPEN: RefCell<Vec<Vec<Read>>> = const { RefCell::new(Vec::new()) };
}

impl Reads {
    /// Runs a computation, and returns its result with its reads.
    ///
    /// The computation must not read in other threads.
    pub fn record<T>(run: impl FnOnce() -> T) -> (T, Self) {
        OPEN.with_borrow_mut(|open| open.push(Vec::new()));
        let result = run();
        let reads = OPEN.with_borrow_mut(|open| {
            let mut reads = open.pop().unwrap_or_default();
            reads.sort_unstable();
            reads.dedup();
            if let Some(outer) = open.last_mut() {
                outer.extend_from_slice(&reads);
            }
            reads
        });
        (result, Self(reads.into()))
    }

    /// Returns whether this thread records its reads.
    pub fn are_recorded() -> bool {
        OPEN.with_borrow(|open| !open.is_empty())
    }

    /// Adds the reads of an earlier computation, whose result the current one uses. Without them, the current one
    /// counts as reading everything.
    pub fn add(earlier: Option<&Self>) {
        OPEN.with_borrow_mut(|open| {
            let Some(outer) = open.last_mut() else { return };
            match earlier {
                Some(earlier) => outer.extend_from_slice(&earlier.0),
                None => outer.push(Read::ALL),
            }
        });
    }

    /// The reads, in the order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = &Read> {
        self.0.iter()
    }
}

impl Read {
    /// The question for all paths, or for something that was read before the record began.
    pub const ALL: Self = Self(0);

    /// The question for the kind and the content of a path.
    pub fn path(path: &str) -> Self {
        Self::of(1, path)
    }

    /// The question for the paths below a directory.
    pub fn folder(folder: &str) -> Self {
        Self::of(2, folder)
    }

    fn of(kind: u8, path: &str) -> Self {
        let mut hasher = rustc_hash::FxHasher::default();
        (kind, path).hash(&mut hasher);
        // The hash 0 means all paths.
        Self(hasher.finish().max(1))
    }

    /// Records a question about a path.
    pub(crate) fn note_path(path: &str) {
        Self::note(|| Self::path(path));
    }

    /// Records a question about the paths below a directory.
    pub(crate) fn note_folder(folder: &str) {
        Self::note(|| Self::folder(folder));
    }

    /// Records a question about all paths.
    pub(crate) fn note_all() {
        Self::note(|| Self::ALL);
    }

    fn note(read: impl FnOnce() -> Self) {
        OPEN.with_borrow_mut(|open| {
            if let Some(reads) = open.last_mut() {
                let read = read();
                // Many computations read a path several times in a row.
                if reads.last() != Some(&read) {
                    reads.push(read);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outer_record_contains_the_inner_one() {
        let ((inner, ()), outer) = Reads::record(|| {
            Read::note_folder("a");
            let ((), inner) = Reads::record(|| Read::note_path("a/b"));
            (inner, Read::note_path("a/b"))
        });
        assert_eq!(inner.iter().collect::<Vec<_>>(), [&Read::path("a/b")]);
        let mut all = [Read::path("a/b"), Read::folder("a")];
        all.sort_unstable();
        assert!(outer.iter().eq(&all));
        assert!(!Reads::are_recorded());
    }

    #[test]
    fn a_result_without_a_record_reads_everything() {
        let ((), reads) = Reads::record(|| Reads::add(None));
        assert_eq!(reads.iter().collect::<Vec<_>>(), [&Read::ALL]);
    }
}
