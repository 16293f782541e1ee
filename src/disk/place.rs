//! Paths that users type, and paths of files to write.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::{DiskError, display};
use super::journal;
use crate::text::is_git_name;

/// Returns whether the path is a file.
pub fn is_file(path: &Path) -> bool {
    journal::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Returns whether a file or a directory exists at the path.
pub fn exists(path: &Path) -> bool {
    journal::metadata(path).is_ok()
}

/// Returns the size of a file in bytes; 0 if it does not exist.
pub fn len(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Returns the canonical path of the current directory.
pub fn working_directory() -> PathBuf {
    fs::canonicalize(".").unwrap_or_default()
}

/// Returns the path of a directory relative to a directory that contains it, with `/` between segments.
///
/// Returns the empty string if both are the same directory.
pub fn relative(folder: &Path, from: &Path) -> Option<String> {
    let (folder, from) = (journal::canonicalize(folder).ok()?, journal::canonicalize(from).ok()?);
    slashed(folder.strip_prefix(from).ok()?)
}

/// Returns the root of the Git repository that contains a canonical directory.
pub(super) fn repository_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| journal::symlink_metadata(&folder.join(".git")).is_ok())
}

/// Returns the directory whose files have the author of a canonical directory.
///
/// That is the root of the Git repository. Without a repository, it is the current directory if that contains `folder`,
/// else `folder` itself.
pub(super) fn bounds_of(folder: &Path) -> PathBuf {
    let here = || {
        let here = journal::canonicalize(Path::new(".")).ok()?;
        (here.parent().is_some() && folder.starts_with(&here)).then_some(here)
    };
    repository_of(folder).map(Path::to_owned).or_else(here).unwrap_or_else(|| folder.to_owned())
}

/// Rejects a path that a user typed if it contains a symbolic link of a repository that leads out of that repository.
///
/// The user expects a directory at the path, but the author of the repository may have replaced the directory with a
/// link.
pub(super) fn refuse_leaving_link(typed: &Path) -> Result<(), DiskError> {
    refuse_leaving(typed, &Lookups { kind: journal::symlink_metadata, canonical: journal::canonicalize })
}

/// Rejects a path of an output as [`refuse_leaving_link`] does. The result of a run does not depend on it.
pub(super) fn refuse_leaving_output(typed: &Path) -> Result<(), DiskError> {
    refuse_leaving(
        typed,
        &Lookups { kind: |path| fs::symlink_metadata(path), canonical: |path| fs::canonicalize(path) },
    )
}

/// The functions that examine a path.
struct Lookups {
    kind: fn(&Path) -> io::Result<fs::Metadata>,
    canonical: fn(&Path) -> io::Result<PathBuf>,
}

fn refuse_leaving(typed: &Path, look: &Lookups) -> Result<(), DiskError> {
    let Ok(mut here) = (look.canonical)(Path::new(".")) else { return Ok(()) };
    for component in typed.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => here.push(component),
            Component::CurDir => {}
            Component::ParentDir => {
                here.pop();
            }
            Component::Normal(name) => {
                let next = here.join(name);
                if !(look.kind)(&next).is_ok_and(|metadata| metadata.is_symlink()) {
                    here = next;
                    continue;
                }
                let target = (look.canonical)(&next).ok();
                if let Some(repository) = here.ancestors().find(|folder| (look.kind)(&folder.join(".git")).is_ok())
                    && !target.as_ref().is_some_and(|target| is_within(target, repository))
                {
                    return Err(DiskError::LinkLeavesRepository { path: display(typed), link: display(&next) });
                }
                let Some(target) = target else { return Ok(()) };
                here = target;
            }
        }
    }
    Ok(())
}

/// Returns whether a canonical path is below a canonical root and not in `.git`.
pub(super) fn is_within(target: &Path, root: &Path) -> bool {
    target.strip_prefix(root).is_ok_and(|inside| !inside.iter().any(is_git))
}

/// Returns whether any file system treats a name as `.git`.
pub(super) fn is_git(name: &OsStr) -> bool {
    is_git_name(&name.to_string_lossy())
}

/// Returns the full path of a file to write below the canonical `root`, after a check of every directory in the path.
///
/// A file in `removed` is not an obstacle, since the file is removed first. `checked` contains the directories that an
/// earlier call checked.
pub(super) fn target(
    root: &Path,
    path: &str,
    removed: &BTreeSet<String>,
    checked: &mut BTreeSet<String>,
) -> Result<PathBuf, DiskError> {
    let forbidden = || DiskError::Forbidden(path.to_owned());
    if path.is_empty() || !is_plain(Path::new(path)) {
        return Err(forbidden());
    }
    let full = root.join(path);
    for (end, _) in path.match_indices('/') {
        let relative = path.get(..end).ok_or_else(forbidden)?;
        if checked.contains(relative) {
            continue;
        }
        let folder = root.join(relative);
        let Ok(metadata) = fs::symlink_metadata(&folder) else { break };
        if metadata.is_symlink() && !fs::canonicalize(&folder).is_ok_and(|target| is_within(&target, root)) {
            return Err(DiskError::LinkLeavesRoot { path: path.to_owned(), link: display(&folder) });
        }
        if !fs::metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) {
            if removed.contains(relative) {
                break;
            }
            return Err(DiskError::Blocked { path: path.to_owned(), obstacle: "a file", at: display(&folder) });
        }
        checked.insert(relative.to_owned());
    }
    if fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_dir()) && !is_emptied(&full, path, removed) {
        return Err(DiskError::Blocked { path: path.to_owned(), obstacle: "a directory", at: display(&full) });
    }
    Ok(full)
}

/// Checks the path of a [`target`] again just before the write: a link may have replaced a directory.
pub(super) fn confirm(root: &Path, target: &Path) -> Result<(), DiskError> {
    let folder = target.parent().unwrap_or(root);
    match fs::canonicalize(folder) {
        Ok(real) if !is_within(&real, root) => {
            Err(DiskError::LinkLeavesRoot { path: display(target), link: display(folder) })
        }
        // A file to remove may be missing already, together with its directory.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the directories that become empty when files are removed.
pub(super) fn emptied(root: &Path, removed: &BTreeSet<String>) -> BTreeSet<PathBuf> {
    let folders = removed.iter().flat_map(|path| path.match_indices('/').filter_map(|(end, _)| path.get(..end)));
    let folders: BTreeSet<&str> = folders.collect();
    let emptied = folders.into_iter().map(|folder| (root.join(folder), folder));
    emptied.filter(|(full, folder)| is_emptied(full, folder, removed)).map(|(full, _)| full).collect()
}

/// Returns whether a directory contains files, and all its files are in `removed`.
fn is_emptied(folder: &Path, path: &str, removed: &BTreeSet<String>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut entries = entries.filter_map(Result::ok).peekable();
    entries.peek().is_some()
        && entries.all(|entry| {
            let below = format!("{path}/{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { is_emptied(&entry.path(), &below, removed) } else { removed.contains(&below) }
        })
}

/// Returns a relative path with `/` between segments, or `None` if the path is not valid UTF-8.
pub(super) fn slashed(path: &Path) -> Option<String> {
    let segments: Option<Vec<&str>> = path.components().map(|segment| segment.as_os_str().to_str()).collect();
    segments.map(|segments| segments.join("/"))
}

/// Returns whether a path consists of names only, and no name is `.git`.
pub(super) fn is_plain(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(name) if !is_git(name)))
}
