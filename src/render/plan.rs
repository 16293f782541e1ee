//! What a render would do to the files that are there.

use std::collections::{BTreeMap, BTreeSet};

use super::Rendered;
use rayon::prelude::*;

use super::change::Change;
use super::lock::{Digest, LOCK, Lock};
use super::made::HEADER;
use super::removed::{Removed, removed};
use crate::text::{File, LoadError, Tree, folder_of};
use crate::yaml::{Reader, parse, to_json};

/// What a render would do. Every list is sorted by path.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Files to write that are not there.
    pub add: Vec<Change>,
    /// Files of ours to write anew.
    pub change: Vec<Change>,
    /// Files of ours to remove, since nothing renders them any longer.
    pub remove: Vec<Change>,
    /// Files of ours that are as they shall be.
    pub unchanged: Vec<String>,
    /// Files as they shall be that the lock does not list yet.
    pub adopted: Vec<String>,
    /// Files of ours that somebody edited. They block the render until somebody decides.
    pub edited: Vec<Change>,
    /// Files that are not ours where one shall be written. They block the render too.
    pub in_the_way: Vec<Change>,
    /// Files with our header that nothing renders and that no lock lists; they are left alone.
    pub orphans: Vec<String>,
    /// What the change takes away from running clusters.
    pub removed_objects: Vec<Removed>,
    /// The lock to write before any file: the old and the new contents are ours.
    pub lock_before: Lock,
    /// The lock to write after all files.
    pub lock_after: Lock,
    lock_now: Lock,
}

impl Plan {
    /// Tells whether somebody has to decide before anything may be written.
    pub fn is_blocked(&self) -> bool {
        !self.edited.is_empty() || !self.in_the_way.is_empty()
    }

    /// Tells whether every file is as it shall be.
    pub fn is_current(&self) -> bool {
        self.changes().next().is_none()
    }

    /// Tells whether the lock is as it shall be, too: then nothing at all would be written.
    pub fn is_lock_current(&self) -> bool {
        self.lock_now == self.lock_after
    }

    /// Every file that is not as it shall be: to add, change or remove, edited, in the way.
    pub fn changes(&self) -> impl Iterator<Item = &Change> + Clone {
        [&self.add, &self.change, &self.remove, &self.edited, &self.in_the_way].into_iter().flatten()
    }

    /// The plan of somebody who decided for the rendered version everywhere: what was edited or in the way is written
    /// or removed. Files that are neither rendered nor listed stay untouched.
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

/// Compares what was rendered with the files that are there, given the lock that lists which of them are ours.
pub fn plan(rendered: &Rendered, existing: &Tree, lock: &Lock) -> Plan {
    let mut plan = Plan { lock_now: lock.clone(), ..Plan::default() };
    let files: Vec<&File> = rendered.tree.files().collect();
    let compared: Vec<Compared> = files.par_iter().map(|file| Compared::of(rendered, file, existing)).collect();
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
    plan.lock_before = lock.union(&plan.lock_after);
    plan.removed_objects = removed(plan.changes(), existing, &rendered.tree);
    plan
}

impl Plan {
    /// Puts a rendered file into the list that it belongs to.
    fn sort(&mut self, file: &File, compared: Compared, existing: &Tree, lock: &Lock) {
        let path = file.path();
        let change = |old: Option<File>, note| Change { path: path.to_owned(), old, new: Some(file.clone()), note };
        let (old, now) = match compared.old {
            Ok(old) => old,
            Err(LoadError::Missing) if existing.has_folder(path) => {
                self.in_the_way.push(change(None, Some("it is a folder; move it away")));
                return;
            }
            Err(LoadError::Missing) => {
                self.add.push(change(None, None));
                return;
            }
            Err(LoadError::Linked) => {
                self.in_the_way.push(change(None, Some("it is a link out of the folder, or to a folder")));
                return;
            }
            Err(_) => {
                let list = if lock.lists(path) { &mut self.edited } else { &mut self.in_the_way };
                list.push(change(None, Some("what stands there cannot be read as text")));
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
            let note = "it has the header of one, so it was edited, or the lock is another fleet's";
            self.in_the_way.push(change(Some(old), carries_header.then_some(note)));
        }
    }

    /// A file stands where a rendered one needs a folder.
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
            note: Some("a folder shall stand there"),
        }));
    }
}

/// A rendered file and the one that is there.
struct Compared {
    new: Digest,
    old: Result<(File, Digest), LoadError>,
}

impl Compared {
    fn of(rendered: &Rendered, file: &File, existing: &Tree) -> Self {
        let digest = |file: &File| content(rendered, file.path(), file.text());
        let old = existing_file(existing, file.path()).map(|old| {
            let digest = digest(&old);
            (old, digest)
        });
        Self { new: digest(file), old }
    }
}

/// The digest of a content: of its text, or of its objects where another program writes the same file with comments and
/// an order of its own.
fn content(rendered: &Rendered, path: &str, text: &str) -> Digest {
    if rendered.shared.contains(path) { Digest::of(&canonical(text)) } else { Digest::of(text) }
}

/// A file that is there, with its line breaks as Git keeps them: a checkout on Windows has them as CRLF, and nobody
/// edited anything.
fn existing_file(existing: &Tree, path: &str) -> Result<File, LoadError> {
    let file = existing.file(path)?;
    if !file.text().contains("\r\n") {
        return Ok(file);
    }
    Ok(File::new(path, file.text().replace("\r\n", "\n")))
}

/// The objects of a manifest in a form that only their values decide; a text that is no YAML is itself.
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

/// Files with our header that nothing renders and no lock lists. Folders with a lock of their own are another fleet's.
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
