//! Evidence that a run would have the same result again: the file system gives the same answers.
//!
//! Stamps make the check fast. If a stamp differs or proves nothing, the content decides.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};

use super::git;
use super::journal::{self, Hash, Journal, Stamp, kind_name};
use super::revision::Revision;
use super::root::Root;
use crate::text::File;

/// Everything that a run learned from the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub(super) answers: Vec<(journal::Question, String, String)>,
    pub(super) tracked: Vec<(String, Hash)>,
    /// The directories and revisions with the hashes of their files.
    pub(super) revisions: Vec<(String, String, Hash)>,
    pub(super) folders: Vec<Item>,
    pub(super) files: Vec<Item>,
}

/// A file with its content, or a directory with its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub path: String,
    /// The stamp, if an equal stamp proves an equal content.
    pub stamp: Option<Stamp>,
    /// The hash of the content or the list.
    pub hash: Hash,
}

/// The result of a comparison of evidence with the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Something differs.
    Different,
    /// Nothing differs.
    Equal,
    /// Nothing differs, and the next comparison is faster with this evidence.
    EqualWith(Evidence),
}

/// Starts the observation of a run. The process can observe one run at a time.
pub fn observe() {
    journal::start();
}

/// Ends the observation of a run.
///
/// Returns `None` if the evidence would not be complete, for example if a directory changed during the run.
pub fn observed() -> Option<Evidence> {
    Evidence::of(journal::finish()?)
}

impl Evidence {
    fn of(journal: Journal) -> Option<Self> {
        let start = journal.start;
        if !journal.is_complete {
            return None;
        }
        let folders: Vec<_> = journal.folders.into_iter().collect();
        let listed = folders.into_par_iter().map(|(path, before)| {
            let (now, hash, ignores) = list(&path)?;
            // The run listed the directory after the first stamp. A change since then may be in its list or not.
            if Some(now) != before || now.is_after(start) {
                return None;
            }
            let ignore_file = if ignores { Some(read(&format!("{path}/.gitignore"))?) } else { None };
            // The walk read the file itself.
            if ignore_file.as_ref().is_some_and(|item| item.stamp.is_none_or(|stamp| stamp.is_after(start))) {
                return None;
            }
            Some((Item { path, stamp: Some(now), hash }, ignore_file))
        });
        let listed: Vec<(Item, Option<Item>)> = listed.collect::<Option<_>>()?;
        let (folders, ignore_files): (Vec<Item>, Vec<Option<Item>>) = listed.into_iter().unzip();
        let ignore_files: Vec<Item> = ignore_files.into_iter().flatten().collect();
        let is_other = |item: &&Item| journal.files.get(&item.path).is_some_and(|(_, hash)| *hash != item.hash);
        if ignore_files.iter().any(|item| is_other(&item)) {
            return None;
        }
        let files = journal.files.into_iter().map(|(path, (stamp, hash))| Item { path, stamp: Some(stamp), hash });
        let mut files: Vec<Item> = files.chain(ignore_files).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        let answers = journal.answers.into_iter().map(|((question, path), answer)| (question, path, answer)).collect();
        let proven = |items: Vec<Item>| items.into_iter().map(|item| item.proven(start)).collect();
        let tracked = journal.tracked.into_iter().collect();
        let revisions = journal.revisions.into_iter().map(|((root, name), files)| (root, name, files)).collect();
        Some(Self { answers, tracked, revisions, folders: proven(folders), files: proven(files) })
    }

    /// Compares the evidence with the file system.
    pub fn compare(&self) -> Comparison {
        let start = SystemTime::now();
        if self.answers.iter().any(|(question, path, answer)| question.ask(Path::new(path)) != *answer) {
            return Comparison::Different;
        }
        let folders = || renew_all(&self.folders, start, |path| list(path).map(|(stamp, hash, _)| (stamp, hash)));
        let files = || renew_all(&self.files, start, |path| read(path).and_then(|item| Some((item.stamp?, item.hash))));
        let is_tracked =
            |(root, names): &(String, Hash)| git::digest_of_tracked(Path::new(root)).is_ok_and(|found| found == *names);
        let is_listed = |(root, name, files): &(String, String, Hash)| {
            Revision::digest(Path::new(root), name).is_ok_and(|found| found == *files)
        };
        let tracked = || self.tracked.iter().all(is_tracked) && self.revisions.iter().all(is_listed);
        let (tracked, (folders, files)) = rayon::join(tracked, || rayon::join(folders, files));
        let (true, Some(folders), Some(files)) = (tracked, folders, files) else { return Comparison::Different };
        if folders.is_empty() && files.is_empty() {
            return Comparison::Equal;
        }
        let mut renewed = self.clone();
        for (items, new) in [(&mut renewed.folders, folders), (&mut renewed.files, files)] {
            for (at, stamp) in new {
                items[at].stamp = stamp;
            }
        }
        Comparison::EqualWith(renewed)
    }
}

impl Item {
    /// Keeps the stamp only if it proves something. The content was read after `start`.
    fn proven(mut self, start: SystemTime) -> Self {
        self.stamp = self.stamp.filter(|stamp| stamp.is_proof(start));
        self
    }
}

/// Compares items with the file system. Returns the items with other stamps and equal contents by position, or `None` if
/// any content differs.
fn renew_all(
    items: &[Item],
    start: SystemTime,
    read: impl Fn(&str) -> Option<(Stamp, Hash)> + Sync,
) -> Option<Vec<(usize, Option<Stamp>)>> {
    let renew = |(at, item): (usize, &Item)| -> Option<Option<(usize, Option<Stamp>)>> {
        let metadata = fs::symlink_metadata(&item.path).ok()?;
        if item.stamp == Some(Stamp::of(&metadata)) {
            return Some(None);
        }
        let (stamp, hash) = read(&item.path)?;
        let stamp = Some(stamp).filter(|stamp| stamp.is_proof(start));
        (hash == item.hash).then_some((stamp.is_some() || item.stamp.is_some()).then_some((at, stamp)))
    };
    let numbered: Vec<(usize, &Item)> = items.iter().enumerate().collect();
    let renewed: Option<Vec<_>> = numbered.into_par_iter().map(renew).collect();
    Some(renewed?.into_iter().flatten().collect())
}

/// The stamp and the hash of the list of a directory, and whether the directory has a .gitignore.
fn list(path: &str) -> Option<(Stamp, Hash, bool)> {
    let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(path).ok()? {
        let entry = entry.ok()?;
        names.push((entry.file_name().into_encoded_bytes(), kind_name(entry.file_type().ok()?)));
    }
    names.sort();
    let mut hash = Sha256::new();
    for (name, kind) in &names {
        hash.update(name.len().to_le_bytes());
        hash.update(name);
        hash.update(kind);
    }
    let ignores = names.iter().any(|(name, _)| name == b".gitignore");
    Some((Stamp::of(&metadata), hash.finalize().into(), ignores))
}

/// The present stamp and content of a regular file. The stamp is older than the content.
fn read(path: &str) -> Option<Item> {
    use std::io::Read as _;

    let (folder, name) = (Path::new(path).parent()?, Path::new(path).file_name()?);
    let (file, metadata) = Root::at(folder.to_owned()).ok()?.file(Path::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.take(File::MAX_LEN as u64 + 1).read_to_end(&mut bytes).ok()?;
    // The hash of a part of a file proves nothing.
    (bytes.len() <= File::MAX_LEN).then(|| Item {
        path: path.to_owned(),
        stamp: Some(Stamp::of(&metadata)),
        hash: Sha256::digest(&bytes).into(),
    })
}
