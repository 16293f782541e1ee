//! Paths that users type, and paths that are written to.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error::{DiskError, shown};

/// Tells whether a path names a file.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// A folder's path from another one that it lies in, with `/` between segments; empty for that folder itself.
pub fn relative(folder: &Path, from: &Path) -> Option<String> {
    let (folder, from) = (fs::canonicalize(folder).ok()?, fs::canonicalize(from).ok()?);
    slashed(folder.strip_prefix(from).ok()?)
}

/// The directory of the Git repository that a canonical directory belongs to.
pub(super) fn repository_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())
}

/// Refuses a path that a user typed if a link of a repository on the way leads out of that repository.
///
/// A user means what is there; who wrote the repository may have put a link in its place.
pub(super) fn refuse_stray(typed: &Path) -> Result<(), DiskError> {
    let Ok(mut here) = fs::canonicalize(".") else { return Ok(()) };
    for component in typed.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => here.push(component),
            Component::CurDir => {}
            Component::ParentDir => {
                here.pop();
            }
            Component::Normal(name) => {
                let next = here.join(name);
                if !fs::symlink_metadata(&next).is_ok_and(|metadata| metadata.is_symlink()) {
                    here = next;
                    continue;
                }
                let target = fs::canonicalize(&next).ok();
                if let Some(repository) = repository_of(&here)
                    && !target.as_ref().is_some_and(|target| is_within(target, repository))
                {
                    return Err(DiskError::Strays { path: shown(typed), link: shown(&next) });
                }
                let Some(target) = target else { return Ok(()) };
                here = target;
            }
        }
    }
    Ok(())
}

/// Tells whether a canonical path lies below a canonical root, and not in `.git`.
pub(super) fn is_within(target: &Path, root: &Path) -> bool {
    target.strip_prefix(root).is_ok_and(|inside| !inside.iter().any(is_git))
}

/// The characters that file systems of macOS leave out of names when they compare them.
const IGNORED: [(char, char); 4] =
    [('\u{200c}', '\u{200f}'), ('\u{202a}', '\u{202e}'), ('\u{206a}', '\u{206f}'), ('\u{feff}', '\u{feff}')];

/// Tells whether some file system takes a name for `.git`, as Git itself judges it.
pub(super) fn is_git(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    if !name.starts_with(['.', 'g', 'G']) && name.is_ascii() {
        return false;
    }
    let is_ignored = |c: char| IGNORED.iter().any(|(first, last)| (*first..=*last).contains(&c));
    let name: String = name.chars().filter(|c| !is_ignored(*c)).collect();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

/// The full path of a file to be written below `root`, which is canonical: every folder on its way is looked at.
///
/// What is in `removed` will not be in the way any longer.
pub(super) fn target(root: &Path, path: &str, removed: &BTreeSet<String>) -> Result<PathBuf, DiskError> {
    let forbidden = || DiskError::Forbidden(path.to_owned());
    if path.is_empty() || !is_plain(Path::new(path)) {
        return Err(forbidden());
    }
    let full = root.join(path);
    for (end, _) in path.match_indices('/') {
        let relative = path.get(..end).ok_or_else(forbidden)?;
        let folder = root.join(relative);
        let Ok(metadata) = fs::symlink_metadata(&folder) else { break };
        if metadata.is_symlink() && !fs::canonicalize(&folder).is_ok_and(|target| is_within(&target, root)) {
            return Err(DiskError::LeadsOut { path: path.to_owned(), link: shown(&folder) });
        }
        if !fs::metadata(&folder).is_ok_and(|metadata| metadata.is_dir()) {
            if removed.contains(relative) {
                break;
            }
            return Err(DiskError::Blocked { path: path.to_owned(), obstacle: "a file", at: shown(&folder) });
        }
    }
    if fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_dir()) && !is_emptied(&full, path, removed) {
        return Err(DiskError::Blocked { path: path.to_owned(), obstacle: "a folder", at: shown(&full) });
    }
    Ok(full)
}

/// Looks again at the way to a [`target`] just before it changes: a link may have taken the place of a folder.
pub(super) fn confirm(root: &Path, target: &Path) -> Result<(), DiskError> {
    let folder = target.parent().unwrap_or(root);
    match fs::canonicalize(folder) {
        Ok(real) if !is_within(&real, root) => Err(DiskError::LeadsOut { path: shown(target), link: shown(folder) }),
        // What is to be removed may be gone, with its folder.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The folders that are left empty when files are removed.
pub(super) fn emptied(root: &Path, removed: &BTreeSet<String>) -> BTreeSet<PathBuf> {
    let folders = removed.iter().flat_map(|path| path.match_indices('/').filter_map(|(end, _)| path.get(..end)));
    let folders: BTreeSet<&str> = folders.collect();
    let emptied = folders.into_iter().map(|folder| (root.join(folder), folder));
    emptied.filter(|(full, folder)| is_emptied(full, folder, removed)).map(|(full, _)| full).collect()
}

/// Tells whether a folder has files and all of them will be removed, and the folder with them.
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

/// A path relative to the root, with `/` between segments; `None` when it is not UTF-8.
pub(super) fn slashed(path: &Path) -> Option<String> {
    let segments: Option<Vec<&str>> = path.components().map(|segment| segment.as_os_str().to_str()).collect();
    segments.map(|segments| segments.join("/"))
}

/// Tells whether a path consists of names alone, none of them Git's own.
pub(super) fn is_plain(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(name) if !is_git(name)))
}
