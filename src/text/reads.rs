//! A record of what a computation reads from trees. A result is valid for another tree that agrees on all reads.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use arcstr::ArcStr;

/// One question to a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Read {
    /// The kind and the content of a path.
    Path(ArcStr),
    /// The paths below a directory.
    Folder(ArcStr),
    /// All paths, or something that was read before the record began.
    All,
}

/// The questions to trees during a computation.
#[derive(Debug, Clone, Default)]
pub struct Reads(Arc<BTreeSet<Read>>);

thread_local! {
    /// The open records of this thread, the innermost last.
    static OPEN: RefCell<Vec<BTreeSet<Read>>> = const { RefCell::new(Vec::new()) };
}

impl Reads {
    /// Runs a computation, and returns its result with its reads.
    ///
    /// The computation must not read in other threads.
    pub fn record<T>(run: impl FnOnce() -> T) -> (T, Self) {
        OPEN.with_borrow_mut(|open| open.push(BTreeSet::new()));
        let result = run();
        let reads = OPEN.with_borrow_mut(|open| {
            let reads = open.pop().unwrap_or_default();
            if let Some(outer) = open.last_mut() {
                outer.extend(reads.iter().cloned());
            }
            reads
        });
        (result, Self(Arc::new(reads)))
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
                Some(earlier) => outer.extend(earlier.0.iter().cloned()),
                None => drop(outer.insert(Read::All)),
            }
        });
    }

    /// The reads, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Read> {
        self.0.iter()
    }
}

impl Read {
    /// Records a question about a path.
    pub(crate) fn note_path(path: &str) {
        Self::note(|| Self::Path(path.into()));
    }

    /// Records a question about the paths below a directory.
    pub(crate) fn note_folder(folder: &str) {
        Self::note(|| Self::Folder(folder.into()));
    }

    /// Records a question about all paths.
    pub(crate) fn note_all() {
        Self::note(|| Self::All);
    }

    fn note(read: impl FnOnce() -> Self) {
        OPEN.with_borrow_mut(|open| {
            if let Some(reads) = open.last_mut() {
                reads.insert(read());
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
            (inner, ())
        });
        assert_eq!(inner.iter().collect::<Vec<_>>(), [&Read::Path("a/b".into())]);
        assert_eq!(outer.iter().collect::<Vec<_>>(), [&Read::Path("a/b".into()), &Read::Folder("a".into())]);
        assert!(!Reads::are_recorded());
    }

    #[test]
    fn a_result_without_a_record_reads_everything() {
        let ((), reads) = Reads::record(|| Reads::add(None));
        assert_eq!(reads.iter().collect::<Vec<_>>(), [&Read::All]);
    }
}
