//! The comparison of two states of files, as far as a computation has read them.

use std::sync::{Arc, Mutex, PoisonError};

use super::files::Files;
use crate::text::{Entry, Index, PathKind, Read, Reads, Tree};

/// Two states of files, with the comparisons of earlier queries.
#[derive(Debug)]
pub(crate) struct Comparison {
    states: [Files; 2],
    known: Mutex<Index<Read, bool>>,
}

impl Comparison {
    /// Prepares the comparison of two states.
    pub(crate) fn new(one: &Files, other: &Files) -> Self {
        Self { states: [one.clone(), other.clone()], known: Mutex::default() }
    }

    /// Returns whether a computation with these reads has the same result in both states.
    pub(crate) fn agrees_on(&self, reads: &Reads) -> bool {
        // A panic in another thread leaves complete entries: each is inserted in one step.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        reads.iter().all(|read| match known.get(read) {
            Some(is_same) => *is_same,
            None => *known.entry_or(read.clone(), || self.is_same(read)),
        })
    }

    fn is_same(&self, read: &Read) -> bool {
        let [one, other] = &self.states;
        match read {
            Read::Path(path) => has_same_path(one, other, path),
            Read::Folder(folder) => has_same_paths(one.tree(), other.tree(), folder),
            Read::All => false,
        }
    }
}

fn has_same_path(one: &Files, other: &Files, path: &str) -> bool {
    if one.tree().is_link(path) != other.tree().is_link(path) {
        return false;
    }
    match (one.parsed_ahead(path), other.parsed_ahead(path)) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => has_same_content(one.tree(), other.tree(), path),
        _ => false,
    }
}

/// Returns whether a path has the same kind and content in two trees.
fn has_same_content(one: &Tree, other: &Tree, path: &str) -> bool {
    match (one.entry(path), other.entry(path)) {
        (Some(Entry::Text(one)), Some(Entry::Text(other))) => return one == other,
        (Some(Entry::Opaque(one)), Some(Entry::Opaque(other))) => return one == other,
        _ => {}
    }
    match (one.path_kind(path), other.path_kind(path)) {
        (PathKind::File(first), PathKind::File(second)) => {
            first == second && matches!((one.bytes(path), other.bytes(path)), (Ok(one), Ok(other)) if one == other)
        }
        (first, second) => first == second,
    }
}

/// Returns whether two trees have the same paths below a directory.
fn has_same_paths(one: &Tree, other: &Tree, folder: &str) -> bool {
    one.under(folder).eq(other.under(folder)) && one.names(folder) == other.names(folder)
}
