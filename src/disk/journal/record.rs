//! The journal of the present run.
//!
//! Each function of this directory that reads a file, a directory or a path for `lint` reports it here. The journal is
//! global, since a run has one file system, and the files of a tree are read on first access, in any thread.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::question::{Question, canonical_answer, kind_answer};
use super::stamp::Stamp;

/// The SHA-256 digest of a content.
pub(in crate::disk) type Hash = [u8; 32];

/// The journal of the present run; `None` if the run keeps no journal.
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

/// Everything that a run learned from the file system.
#[derive(Debug)]
pub(in crate::disk) struct Journal {
    /// The start of the run.
    pub start: SystemTime,
    /// The questions about paths, with their answers.
    pub answers: BTreeMap<(Question, String), String>,
    /// The directories that the run listed, with their stamps before.
    pub folders: BTreeMap<String, Option<Stamp>>,
    /// The files that the run read, with their stamps before and their content.
    pub files: BTreeMap<String, (Stamp, Hash)>,
    /// The files that Git tracks, by directory.
    pub tracked: BTreeMap<String, Hash>,
    /// The files of revisions, by directory and revision, as Git listed them with the ids of their contents.
    pub revisions: BTreeMap<(String, String), Hash>,
    /// Whether the journal has everything that the run learned.
    pub is_complete: bool,
}

/// Starts a journal.
pub(in crate::disk) fn start() {
    let journal = Journal {
        start: SystemTime::now(),
        answers: BTreeMap::new(),
        folders: BTreeMap::new(),
        files: BTreeMap::new(),
        tracked: BTreeMap::new(),
        revisions: BTreeMap::new(),
        is_complete: true,
    };
    *JOURNAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal);
}

/// Ends the journal.
pub(in crate::disk) fn finish() -> Option<Journal> {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn note(write: impl FnOnce(&mut Journal)) {
    if let Some(journal) = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        write(journal);
    }
}

fn is_active() -> bool {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Reports that the run learned something that a journal cannot contain, such as an error.
pub(in crate::disk) fn doubt() {
    note(|journal| journal.is_complete = false);
}

impl Journal {
    fn path(&mut self, path: &Path) -> Option<String> {
        let text = path.to_str().map(str::to_owned);
        self.is_complete &= text.is_some();
        text
    }

    fn answer(&mut self, question: Question, path: &Path, answer: &str) {
        let Some(path) = self.path(path) else { return };
        let known = self.answers.entry((question, path)).or_insert_with(|| answer.to_owned());
        // The file changed between two questions of the run.
        self.is_complete &= *known == answer;
    }
}

/// [`fs::canonicalize`] with a note.
pub(in crate::disk) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let found = fs::canonicalize(path);
    note(|journal| journal.answer(Question::Canonical, path, &canonical_answer(&found)));
    found
}

/// [`fs::symlink_metadata`] with a note of the kind, and of the target of a link.
pub(in crate::disk) fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    let found = fs::symlink_metadata(path);
    note(|journal| journal.answer(Question::Kind, path, &kind_answer(path, &found)));
    found
}

/// [`fs::metadata`] with a note of the kind.
pub(in crate::disk) fn metadata(path: &Path) -> io::Result<Metadata> {
    let found = fs::metadata(path);
    note(|journal| journal.answer(Question::FollowedKind, path, &kind_answer(path, &found)));
    found
}

/// Reports a directory before the run lists it.
pub(in crate::disk) fn folder(path: &Path) {
    note(|journal| {
        let Some(text) = journal.path(path) else { return };
        let stamp = fs::symlink_metadata(path).ok().map(|metadata| Stamp::of(&metadata));
        let known = *journal.folders.entry(text).or_insert(stamp);
        journal.is_complete &= known == stamp;
    });
}

/// Reports the content of a file. The metadata is older than the content.
pub(in crate::disk) fn content(path: &Path, metadata: &Metadata, bytes: &[u8]) {
    if !is_active() {
        return;
    }
    let read = (Stamp::of(metadata), Sha256::digest(bytes).into());
    note(|journal| {
        let Some(path) = journal.path(path) else { return };
        let known = *journal.files.entry(path).or_insert(read);
        journal.is_complete &= known == read;
    });
}

/// Reports the files that Git tracks in a directory, as Git listed them; `None` if Git could not list them.
pub(in crate::disk) fn tracked(root: &Path, names: Option<&[u8]>) {
    note(|journal| {
        let Some(path) = journal.path(root) else { return };
        let names = hash_of(names);
        let known = *journal.tracked.entry(path).or_insert(names);
        journal.is_complete &= known == names;
    });
}

/// Reports the files of a directory in a revision, as Git listed them.
pub(in crate::disk) fn revision(root: &Path, revision: &str, listed: &[u8]) {
    note(|journal| {
        let Some(path) = journal.path(root) else { return };
        let listed = hash_of(Some(listed));
        let known = *journal.revisions.entry((path, revision.to_owned())).or_insert(listed);
        journal.is_complete &= known == listed;
    });
}

/// The hash of a list of names as Git printed it.
pub(in crate::disk) fn hash_of(names: Option<&[u8]>) -> Hash {
    names.map_or_else(|| Sha256::digest("unknown").into(), |names| Sha256::digest(names).into())
}
