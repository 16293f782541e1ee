//! What stands at a path of a tree, without ever leaving the root.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::error::{DiskError, reason, shown};

/// Tells whether a path names a file.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// A folder's path from another one that it lies in, with `/` between segments; empty for that folder itself.
pub fn relative(folder: &Path, from: &Path) -> Option<String> {
    let (folder, from) = (fs::canonicalize(folder).ok()?, fs::canonicalize(from).ok()?);
    slashed(folder.strip_prefix(from).ok()?)
}

/// What stands at a path.
pub(super) enum Place {
    /// Nothing.
    Nothing,
    /// Something that the operating system does not let us look at, and why.
    Hidden(String),
    /// A file: the path that it is read from.
    File(PathBuf),
    /// A folder.
    Folder,
    /// A link out of the root, to a folder, or to nothing.
    Link,
}

/// Looks at a path below `root`, which is canonical. Links are followed to files below it, and nowhere else.
pub(super) fn find(root: &Path, path: &str) -> Place {
    if !is_relative(path) {
        return Place::Nothing;
    }
    let full = root.join(path);
    let metadata = match fs::symlink_metadata(&full) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Place::Nothing,
        Err(error) => return Place::Hidden(reason(&error)),
    };
    let Ok(target) = fs::canonicalize(&full) else { return Place::Link };
    if target == full && metadata.is_file() {
        return Place::File(full);
    }
    if target == full && metadata.is_dir() {
        return Place::Folder;
    }
    let is_inside = target.strip_prefix(root).is_ok_and(|inside| !inside.iter().any(|segment| segment == ".git"));
    if is_inside && fs::metadata(&target).is_ok_and(|metadata| metadata.is_file()) {
        return Place::File(target);
    }
    Place::Link
}

/// The full path of a file to be written below `root`, which is canonical: every folder on its way is looked at.
///
/// What is in `removed` will not be in the way any longer.
pub(super) fn target(root: &Path, path: &str, removed: &BTreeSet<String>) -> Result<PathBuf, DiskError> {
    let forbidden = || DiskError::Forbidden(path.to_owned());
    if !is_relative(path) || path.split('/').any(|segment| segment.eq_ignore_ascii_case(".git")) {
        return Err(forbidden());
    }
    let full = root.join(path);
    for (end, _) in path.match_indices('/') {
        let relative = path.get(..end).ok_or_else(forbidden)?;
        let folder = root.join(relative);
        let Ok(metadata) = fs::symlink_metadata(&folder) else { break };
        if metadata.is_symlink() && !fs::canonicalize(&folder).is_ok_and(|target| target.starts_with(root)) {
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

fn is_relative(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|segment| matches!(segment, Component::Normal(_)))
}
