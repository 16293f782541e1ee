//! Lists the files of a directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::STAGE;
use super::error::{DiskError, display, reason};
use super::git;
use super::journal;
use super::place;
use super::root::{Place, Root};

/// The kind of a file below the root.
pub(super) enum FoundFile {
    /// A file at its own path.
    File,
    /// A readable file behind symbolic links.
    Linked,
    /// A symbolic link that is not followed.
    Link,
    /// A pipe, a socket, a device, or a file whose name is not valid UTF-8.
    Special,
    /// A path that cannot be examined, with the reason.
    Unreadable(String),
}

/// Returns the files below a root, in any order.
///
/// Includes hidden files except `.git`. In a Git repository, excludes files that a .gitignore below the root matches,
/// unless Git tracks them. Without a Git repository, as in an unpacked archive, also includes ignored files. Does not
/// read other ignore files, so that the result is the same on each machine.
pub(super) fn files(root: &Root) -> Result<Vec<(String, FoundFile)>, DiskError> {
    let (opened, root) = (root, root.path());
    // The walker opens any .gitignore, even a symbolic link. A pull request may set the target of such a link.
    let special: Arc<Mutex<BTreeSet<PathBuf>>> = Arc::default();
    special.lock().unwrap_or_else(PoisonError::into_inner).extend(special_ignore_file(root));
    let seen = special.clone();
    journal::folder(root);
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .git_ignore(git::is_repository(root))
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let ignore_file = if is_folder { special_ignore_file(entry.path()) } else { None };
            let is_usual = ignore_file.is_none();
            if is_folder && is_usual && is_wanted(entry) {
                journal::folder(entry.path());
            }
            seen.lock().unwrap_or_else(PoisonError::into_inner).extend(ignore_file);
            is_usual && is_wanted(entry)
        });
    let first_special = || special.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
    if let Some(path) = first_special() {
        return Err(refuse_ignore_file(&path));
    }
    let (sender, entries) = mpsc::channel();
    walk.threads(rayon::current_num_threads()).build_parallel().run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            let looked = entry.map(|entry| (entry.file_name() == ".gitignore", look(opened, &entry)));
            if sender.send(looked).is_ok() { WalkState::Continue } else { WalkState::Quit }
        })
    });
    drop(sender);
    let mut found = Vec::new();
    let mut ignores = false;
    for entry in entries {
        match entry {
            Ok((is_ignore_file, file)) => {
                ignores |= is_ignore_file;
                found.extend(file);
            }
            Err(error) => match path_of(&error).and_then(|path| path.strip_prefix(root).ok()) {
                Some(path) if !path.as_os_str().is_empty() => {
                    journal::doubt();
                    let why = error.io_error().map_or_else(|| error.to_string(), reason);
                    found.extend(place::slashed(path).map(|path| (path, FoundFile::Unreadable(why))));
                }
                _ => {
                    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("it cannot be listed"));
                    return Err(DiskError::Refused { action: "read", path: display(root), source });
                }
            },
        }
    }
    if let Some(path) = first_special() {
        return Err(refuse_ignore_file(&path));
    }
    if ignores {
        let tracked = git::tracked_but_ignored(root)?;
        found.extend(tracked.into_iter().filter_map(|path| match opened.find(&path) {
            Place::File(real) if real == Path::new(&path) => Some((path, FoundFile::File)),
            Place::File(_) => Some((path, FoundFile::Linked)),
            Place::Refused(_) => Some((path, FoundFile::Link)),
            Place::Unreadable(why) => Some((path, FoundFile::Unreadable(why))),
            Place::Special => Some((path, FoundFile::Special)),
            Place::Nothing | Place::Folder(_) => None,
        }));
    }
    Ok(found)
}

/// The maximum number of wildcards in a .gitignore. The time is the product of the wildcards and the paths.
const MAX_WILDCARDS: usize = 2_000;

/// Returns the path of the directory's .gitignore if the file is a link, a pipe or a device, or has too many wildcards.
fn special_ignore_file(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(".gitignore");
    let metadata = fs::symlink_metadata(&path).ok()?;
    let has_many = || {
        let text = fs::read(&path).unwrap_or_default();
        text.iter().filter(|byte| matches!(byte, b'*' | b'?' | b'[')).count() > MAX_WILDCARDS
    };
    let is_usual = metadata.is_dir() || (metadata.is_file() && !(metadata.len() > MAX_WILDCARDS as u64 && has_many()));
    (!is_usual).then_some(path)
}

fn refuse_ignore_file(path: &Path) -> DiskError {
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let why = if is_file {
        format!("it has more than {MAX_WILDCARDS} wildcards; list directories instead")
    } else {
        "it is a link or a special file, which Git does not follow either; replace it with a regular file".to_owned()
    };
    DiskError::refused("read", path)(std::io::Error::other(why))
}

fn is_wanted(entry: &DirEntry) -> bool {
    let is_stage = entry.depth() == 1 && entry.file_name() == STAGE;
    !is_stage && !place::is_git(entry.file_name())
}

fn look(root: &Root, entry: &DirEntry) -> Option<(String, FoundFile)> {
    let relative = entry.path().strip_prefix(root.path()).ok()?;
    let kind = entry.file_type()?;
    if relative.as_os_str().is_empty() || kind.is_dir() {
        return None;
    }
    let Some(path) = place::slashed(relative) else {
        let path = relative.to_string_lossy().replace('\\', "/");
        return Some((path, FoundFile::Special));
    };
    if kind.is_file() {
        return Some((path, FoundFile::File));
    }
    if !kind.is_symlink() {
        return Some((path, FoundFile::Special));
    }
    let found = if matches!(root.find(&path), Place::File(_)) { FoundFile::Linked } else { FoundFile::Link };
    Some((path, found))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
