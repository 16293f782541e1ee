//! The changes that a render makes to the existing files.

use std::collections::{BTreeMap, BTreeSet};

use super::Rendered;
use rayon::prelude::*;

use super::change::Change;
use super::lock::{Digest, LOCK, Lock};
use super::removed::{Removed, removed};
use super::rendered_file::HEADER;
use crate::text::{File, Index, LoadError, Tree, folder_of};
use crate::yaml::{Reader, parse, to_json};

/// The changes of a render. Every list is sorted by path.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The files to add.
    pub add: Vec<Change>,
    /// The rendered files to update.
    pub change: Vec<Change>,
    /// The listed files to remove, since no template renders them.
    pub remove: Vec<Change>,
    /// The listed files without changes.
    pub unchanged: Vec<String>,
    /// The files without changes that the lock does not list.
    pub adopted: Vec<String>,
    /// The listed files with manual edits. They block the render until the user decides.
    pub edited: Vec<Change>,
    /// The files that the lock does not list, at the path of a rendered file. They block the render.
    pub in_the_way: Vec<Change>,
    /// The files with the header of fleetwright that no template renders and no lock lists. They are not changed.
    pub orphans: Vec<String>,
    /// The objects that the changes remove from clusters.
    pub removed_objects: Vec<Removed>,
    /// The lock to write after the files.
    pub lock_after: Lock,
    is_first: bool,
    is_lock_current: bool,
}

impl Plan {
    /// Returns whether the user must decide before files are written.
    pub fn is_blocked(&self) -> bool {
        !self.edited.is_empty() || !self.in_the_way.is_empty()
    }

    /// Returns whether no earlier render recorded files.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns whether the lock is also up to date, so that the render writes nothing.
    pub fn is_lock_current(&self) -> bool {
        self.is_lock_current
    }

    /// Returns the lock to write before the files, with the old contents, which `lock` lists, and the new contents.
    pub fn lock_before(&self, lock: &Lock) -> Lock {
        lock.union(&self.lock_after)
    }

    /// Returns whether every file is up to date.
    pub fn is_current(&self) -> bool {
        self.changes().next().is_none()
    }

    /// Returns every change: files to add, update or remove, edited files and files in the way.
    pub fn changes(&self) -> impl Iterator<Item = &Change> + Clone {
        [&self.add, &self.change, &self.remove, &self.edited, &self.in_the_way].into_iter().flatten()
    }

    /// Returns the plan that overwrites or removes files that are edited or in the way.
    ///
    /// Files that are neither rendered nor listed are not changed.
    #[must_use]
    pub fn forced(mut self) -> Self {
        for change in self.edited.drain(..).chain(self.in_the_way.drain(..)) {
            match (&change.old, &change.new) {
                (_, None) => self.remove.push(change),
                (None, Some(_)) => self.add.push(change),
                (Some(_), Some(_)) => self.change.push(change),
            }
        }
        for list in [&mut self.add, &mut self.change, &mut self.remove] {
            list.sort_by(|a, b| a.path.cmp(&b.path));
        }
        self
    }
}

/// Compares the rendered files with the existing files. The lock lists the files that fleetwright wrote.
pub fn plan(rendered: &Rendered, existing: &Tree, lock: &Lock) -> Plan {
    let mut plan = Plan { is_first: lock.paths().next().is_none(), ..Plan::default() };
    let files: Vec<&File> = rendered.tree.files().collect();
    let digests = Digests::of(rendered, &files);
    let compared: Vec<Compared> =
        files.par_iter().map(|file| Compared::of(rendered, file, existing, &digests)).collect();
    for (file, compared) in files.into_iter().zip(compared) {
        plan.lock_after.add(file.path(), compared.new);
        plan.sort(file, compared, existing, lock);
    }
    for path in lock.paths() {
        if rendered.tree.has_file(path) || rendered.external.is_match(path) || !existing.has_file(path) {
            continue;
        }
        let old = existing_file(existing, path).ok();
        let is_ours = old.as_ref().is_some_and(|old| lock.has(path, content(rendered, path, old.text())));
        let change = Change { path: path.to_owned(), old, new: None, note: None };
        if is_ours { plan.remove.push(change) } else { plan.edited.push(change) }
    }
    plan.blocked_folders(rendered, existing);
    plan.edited.sort_by(|a, b| a.path.cmp(&b.path));
    plan.in_the_way.sort_by(|a, b| a.path.cmp(&b.path));
    plan.orphans = orphans(rendered, existing, lock);
    plan.is_lock_current = *lock == plan.lock_after;
    plan.removed_objects = removed(plan.changes(), existing, &rendered.tree);
    plan
}

impl Plan {
    /// Adds a rendered file to its list.
    fn sort(&mut self, file: &File, compared: Compared, existing: &Tree, lock: &Lock) {
        let path = file.path();
        let change = |old: Option<File>, note| Change { path: path.to_owned(), old, new: Some(file.clone()), note };
        let (old, now) = match compared.old {
            Ok(old) => old,
            Err(LoadError::Missing) if existing.has_folder(path) => {
                self.in_the_way.push(change(None, Some("it is a directory; move it")));
                return;
            }
            Err(LoadError::Missing) => {
                self.add.push(change(None, None));
                return;
            }
            Err(LoadError::Linked) => {
                self.in_the_way.push(change(
                    None,
                    Some("it is a symbolic link to a directory, or to a file outside of the output directory"),
                ));
                return;
            }
            Err(_) => {
                let list = if lock.lists(path) { &mut self.edited } else { &mut self.in_the_way };
                list.push(change(None, Some("the existing file is not readable text")));
                return;
            }
        };
        if now == compared.new {
            let list = if lock.lists(path) { &mut self.unchanged } else { &mut self.adopted };
            list.push(path.to_owned());
        } else if lock.has(path, now) {
            self.change.push(change(Some(old), None));
        } else if lock.lists(path) {
            self.edited.push(change(Some(old), None));
        } else {
            let carries_header = old.text().starts_with(HEADER);
            let note = "it has the header of a rendered file: it was edited, or the lock belongs to another fleet";
            self.in_the_way.push(change(Some(old), carries_header.then_some(note)));
        }
    }

    /// Adds existing files at the path of a directory of rendered files.
    fn blocked_folders(&mut self, rendered: &Rendered, existing: &Tree) {
        let removed: BTreeSet<&str> = self.remove.iter().map(|change| change.path.as_str()).collect();
        let mut blocked: BTreeMap<String, File> = BTreeMap::new();
        for change in &self.add {
            let mut folder = folder_of(&change.path);
            while !folder.is_empty() {
                let is_known = blocked.contains_key(folder) || removed.contains(folder);
                if existing.has_file(folder) && !rendered.tree.has_file(folder) && !is_known {
                    blocked.extend(existing.file(folder).ok().map(|file| (folder.to_owned(), file)));
                }
                folder = folder_of(folder);
            }
        }
        self.in_the_way.extend(blocked.into_iter().map(|(path, file)| Change {
            path,
            old: Some(file),
            new: None,
            note: Some("a directory is required at this path"),
        }));
    }
}

/// A rendered file and the existing file.
struct Compared {
    new: Digest,
    old: Result<(File, Digest), LoadError>,
}

impl Compared {
    fn of(rendered: &Rendered, file: &File, existing: &Tree, digests: &Digests) -> Self {
        let new = digests.get(rendered, file);
        let old = existing_file(existing, file.path()).map(|old| {
            let is_same = old.text() == file.text();
            let digest = if is_same { new } else { content(rendered, old.path(), old.text()) };
            (old, digest)
        });
        Self { new, old }
    }
}

/// The digests of rendered files, by the address of the text: files of many clusters share a text.
struct Digests(Index<(usize, bool), Digest>);

impl Digests {
    fn of(rendered: &Rendered, files: &[&File]) -> Self {
        let mut seen: Index<(usize, bool), ()> = Index::default();
        let distinct = files.iter().map(|file| (Self::key(rendered, file), *file));
        let distinct: Vec<_> = distinct.filter(|(key, _)| seen.insert(*key, ()).is_none()).collect();
        let digest = |(key, file): ((usize, bool), &File)| (key, content(rendered, file.path(), file.text()));
        let digests: Vec<_> = distinct.into_par_iter().map(digest).collect();
        Self(digests.into_iter().collect())
    }

    /// Returns the address of the text, and whether another program also writes the file.
    fn key(rendered: &Rendered, file: &File) -> (usize, bool) {
        (file.text().as_ptr().addr(), rendered.shared.contains(file.path()))
    }

    fn get(&self, rendered: &Rendered, file: &File) -> Digest {
        let known = self.0.get(&Self::key(rendered, file));
        known.copied().unwrap_or_else(|| content(rendered, file.path(), file.text()))
    }
}

/// Returns the digest of a file: of its text, or of its objects if another program also writes the file.
///
/// The other program may use different comments and a different order.
fn content(rendered: &Rendered, path: &str, text: &str) -> Digest {
    if rendered.shared.contains(path) {
        Digest::of(&canonical(text))
    } else if text.contains("\r\n") {
        // A copied file can have these line breaks.
        Digest::of(&text.replace("\r\n", "\n"))
    } else {
        Digest::of(text)
    }
}

/// Returns an existing file with the line breaks of Git: a checkout on Windows has CRLF line breaks, which are not edits.
fn existing_file(existing: &Tree, path: &str) -> Result<File, LoadError> {
    let file = existing.file(path)?;
    if !file.text().contains("\r\n") {
        return Ok(file);
    }
    Ok(File::new(path, file.text().replace("\r\n", "\n")))
}

/// Returns the objects of a manifest in a canonical form; a text that is not YAML remains unchanged.
fn canonical(text: &str) -> String {
    let parsed = parse(&File::new("", text));
    if !parsed.findings.is_empty() {
        return text.to_owned();
    }
    let values = parsed.documents.iter().map(|document| to_json(&document.node, Reader::Kubernetes));
    let mut objects: Vec<String> =
        values.filter(|value| !value.is_null()).map(|value| sorted(value).to_string()).collect();
    objects.sort();
    objects.join("\n")
}

fn sorted(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(items) => items.into_iter().map(sorted).collect(),
        serde_json::Value::Object(fields) => {
            let fields: BTreeMap<String, serde_json::Value> =
                fields.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            serde_json::Value::Object(fields.into_iter().collect())
        }
        other => other,
    }
}

/// Returns the files with the header of fleetwright that are neither rendered nor listed.
///
/// Directories with their own lock belong to another fleet.
fn orphans(rendered: &Rendered, existing: &Tree, lock: &Lock) -> Vec<String> {
    let others: Vec<&str> = existing
        .entries()
        .map(|(path, _)| folder_of(path))
        .filter(|folder| !folder.is_empty() && existing.has_file(&format!("{folder}/{LOCK}")))
        .collect();
    let is_ours = |file: &&File| {
        let path = file.path();
        let is_known = rendered.tree.has_file(path) || lock.lists(path) || rendered.external.is_match(path);
        !is_known && !others.iter().any(|folder| crate::text::is_inside(path, folder))
    };
    let candidates = existing.files().filter(|file| file.text().starts_with(HEADER));
    candidates.filter(is_ours).map(|file| file.path().to_owned()).collect()
}
