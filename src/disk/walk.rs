//! Which files a folder has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};

use super::STAGE;
use super::error::{DiskError, reason, shown};
use super::git;
use super::place;
use super::root::{Place, Root};

/// What stands at a path below the root.
pub(super) enum Found {
    /// A file that may be read where it stands.
    File,
    /// A file that may be read, which links may lead to.
    Linked,
    /// A link that nobody follows.
    Link,
    /// A pipe, a socket, a device, or a name that is no text.
    NoFile,
    /// Something that could not be looked at.
    Unreadable(String),
}

/// The files below a root, in any order.
///
/// Hidden files count, `.git` does not. The .gitignore files below the root are honoured and no others, so that two
/// machines see the same files; what Git tracks counts even when they name it.
pub(super) fn files(root: &Root) -> Result<Vec<(String, Found)>, DiskError> {
    let (opened, root) = (root, root.path());
    // The walker opens what is called .gitignore, whatever it is, and a link of a pull request may lead anywhere.
    let strange: Arc<Mutex<BTreeSet<PathBuf>>> = Arc::default();
    strange.lock().unwrap_or_else(PoisonError::into_inner).extend(strange_ignore_file(root));
    let seen = strange.clone();
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .git_ignore(true)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let ignore_file = if is_folder { strange_ignore_file(entry.path()) } else { None };
            let is_usual = ignore_file.is_none();
            seen.lock().unwrap_or_else(PoisonError::into_inner).extend(ignore_file);
            is_usual && is_wanted(entry)
        });
    let mut found = Vec::new();
    let mut ignores = false;
    let first_strange = || strange.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
    if let Some(path) = first_strange() {
        return Err(refuse_strange(&path));
    }
    for entry in walk.build() {
        match entry {
            Ok(entry) => {
                ignores |= entry.file_name() == ".gitignore";
                found.extend(look(opened, &entry));
            }
            Err(error) => match path_of(&error).and_then(|path| path.strip_prefix(root).ok()) {
                Some(path) if !path.as_os_str().is_empty() => {
                    let why = error.io_error().map_or_else(|| error.to_string(), reason);
                    found.extend(place::slashed(path).map(|path| (path, Found::Unreadable(why))));
                }
                _ => {
                    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("it cannot be listed"));
                    return Err(DiskError::Refused { action: "read", path: shown(root), source });
                }
            },
        }
    }
    if let Some(path) = first_strange() {
        return Err(refuse_strange(&path));
    }
    if ignores {
        let tracked = git::tracked_but_ignored(root);
        found.extend(tracked.into_iter().filter_map(|path| match opened.find(&path) {
            Place::File(real) if real == Path::new(&path) => Some((path, Found::File)),
            Place::File(_) => Some((path, Found::Linked)),
            Place::Refused(_) => Some((path, Found::Link)),
            Place::Hidden(why) => Some((path, Found::Unreadable(why))),
            Place::Special => Some((path, Found::NoFile)),
            Place::Nothing | Place::Folder(_) => None,
        }));
    }
    Ok(found)
}

/// A folder's .gitignore that is a link, a pipe or a device.
fn strange_ignore_file(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(".gitignore");
    let kind = fs::symlink_metadata(&path).ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then_some(path)
}

fn refuse_strange(path: &Path) -> DiskError {
    let why = "it is a link or no file at all, and Git does not follow such a one either; make it a file";
    DiskError::refused("read", path)(std::io::Error::other(why))
}

fn is_wanted(entry: &DirEntry) -> bool {
    let is_stage = entry.depth() == 1 && entry.file_name() == STAGE;
    !is_stage && !place::is_git(entry.file_name())
}

fn look(root: &Root, entry: &DirEntry) -> Option<(String, Found)> {
    let relative = entry.path().strip_prefix(root.path()).ok()?;
    let kind = entry.file_type()?;
    if relative.as_os_str().is_empty() || kind.is_dir() {
        return None;
    }
    let Some(path) = place::slashed(relative) else {
        let path = relative.to_string_lossy().replace('\\', "/");
        return Some((path, Found::NoFile));
    };
    if kind.is_file() {
        return Some((path, Found::File));
    }
    if !kind.is_symlink() {
        return Some((path, Found::NoFile));
    }
    let found = if matches!(root.find(&path), Place::File(_)) { Found::Linked } else { Found::Link };
    Some((path, found))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
