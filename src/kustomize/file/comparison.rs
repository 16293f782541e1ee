//! The comparison of two states of files, as far as a computation has read them.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use super::files::Files;
use super::remote::copy_folder;
use crate::text::{Entry, Index, PathKind, Read, Reads, Tree, folder_of};

/// Two states of files, with the questions on which they may differ.
///
/// The loaders of the trees discover no files: the entries of a tree are all of its paths.
#[derive(Debug)]
pub(crate) struct Comparison {
    states: [Files; 2],
    /// The questions with other answers or unknown answers. Both states have the same answers to all other questions.
    doubts: Index<Read, Doubt>,
}

/// The reason why two states may differ on a question.
#[derive(Debug)]
enum Doubt {
    /// The answers differ.
    Different,
    /// The content of a path, which is read if a computation has read it. The value is whether it is the same.
    Content(String, OnceLock<bool>),
}

impl Comparison {
    /// Compares two states, without reading any file.
    pub(crate) fn new(one: &Files, other: &Files) -> Self {
        let mut comparison = Self { states: [one.clone(), other.clone()], doubts: Index::default() };
        comparison.compare_parsed(one, other);
        comparison.compare_trees("", one.tree(), other.tree());
        for number in 0..one.copies().len().max(other.copies().len()) {
            let empty = Tree::default();
            let tree =
                |files: &Files| files.copies().get(number).map_or_else(|| empty.clone(), |copy| copy.tree.clone());
            comparison.compare_trees(&copy_folder(number), &tree(one), &tree(other));
        }
        comparison
    }

    /// Returns whether a computation with these reads has the same result in both states.
    pub(crate) fn agrees_on(&self, reads: &Reads) -> bool {
        reads.iter().all(|read| match self.doubts.get(read) {
            Some(Doubt::Different) => false,
            Some(Doubt::Content(path, is_same)) => *is_same.get_or_init(|| self.has_same_content(path)),
            None => *read != Read::ALL,
        })
    }

    /// Compares the files that were parsed ahead. States with the same file share its documents.
    fn compare_parsed(&mut self, one: &Files, other: &Files) {
        for (path, one, other) in pairs(one.parsed(), other.parsed()) {
            let is_same = one.zip(other).is_some_and(|(one, other)| Arc::ptr_eq(one, other));
            if !is_same {
                self.doubt(Read::path(path), Doubt::Different);
            }
        }
    }

    /// Compares two trees at a path.
    fn compare_trees(&mut self, at: &str, one: &Tree, other: &Tree) {
        let place = |path: &str| if at.is_empty() { path.to_owned() } else { format!("{at}/{path}") };
        for (path, first, second) in pairs(one.entries(), other.entries()) {
            let read = || Read::path(&place(path));
            match (first, second) {
                (Some(Entry::Text(first)), Some(Entry::Text(second))) if first == second => {}
                (Some(Entry::Opaque(first)), Some(Entry::Opaque(second))) if first == second => {}
                (Some(Entry::Text(_)), Some(Entry::Text(_))) | (Some(Entry::Opaque(_)), Some(Entry::Opaque(_))) => {
                    self.doubt(read(), Doubt::Different);
                }
                (Some(_), Some(_)) => self.doubt(read(), Doubt::Content(place(path), OnceLock::new())),
                (Some(_), None) | (None, _) => self.doubt_path(&place(path)),
            }
        }
        for (path, first, second) in pairs(one.links().map(|path| (path, ())), other.links().map(|path| (path, ()))) {
            if first != second {
                self.doubt(Read::path(&place(path)), Doubt::Different);
            }
        }
    }

    /// Notes that only one state has a path. So its directories may be in one state only, too.
    fn doubt_path(&mut self, path: &str) {
        self.doubt(Read::path(path), Doubt::Different);
        let mut folder = path;
        while !folder.is_empty() {
            folder = folder_of(folder);
            self.doubt(Read::path(folder), Doubt::Different);
            self.doubt(Read::folder(folder), Doubt::Different);
        }
    }

    fn doubt(&mut self, read: Read, doubt: Doubt) {
        // Two questions may have the same hash.
        let is_first = !self.doubts.contains(&read);
        self.doubts.insert(read, if is_first { doubt } else { Doubt::Different });
    }

    /// Returns whether a file that is not read yet has the same content in both states.
    fn has_same_content(&self, path: &str) -> bool {
        let [one, other] = [self.states[0].tree(), self.states[1].tree()];
        match (one.path_kind(path), other.path_kind(path)) {
            (PathKind::File(first), PathKind::File(second)) => {
                first == second && matches!((one.bytes(path), other.bytes(path)), (Ok(one), Ok(other)) if one == other)
            }
            (first, second) => first == second,
        }
    }
}

/// The pairs of two sorted lists by key.
fn pairs<'a, T>(
    one: impl Iterator<Item = (&'a str, T)>,
    other: impl Iterator<Item = (&'a str, T)>,
) -> impl Iterator<Item = (&'a str, Option<T>, Option<T>)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || {
        let order = match (one.peek(), other.peek()) {
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let first = if order.is_le() { one.next() } else { None };
        let second = if order.is_ge() { other.next() } else { None };
        let path = first.as_ref().or(second.as_ref())?.0;
        Some((path, first.map(|(_, value)| value), second.map(|(_, value)| value)))
    })
}
