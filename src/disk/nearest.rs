//! The search for the configuration file of a directory, from the directory up to the root of the Git repository.

use std::path::{Component, Path, PathBuf};

use super::journal;
use super::place::{repository_of, slashed};

/// A directory that contains the file, and the path from there to the requested directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The directory, as a user would type it.
    pub folder: PathBuf,
    /// The path of the requested directory relative to `folder`; empty if they are the same.
    pub within: String,
}

/// Returns the nearest directory with a file of this name, from `folder` upwards.
///
/// The search ends at the root of the Git repository. Outside of a repository, only `folder` is searched. `folder` need
/// not exist yet.
pub fn nearest(folder: &Path, name: &str) -> Option<Nearest> {
    let mut typed = folder.to_owned();
    let mut missing: Vec<String> = Vec::new();
    let start = loop {
        if let Ok(start) = journal::canonicalize(here(&typed)) {
            break start;
        }
        missing.insert(0, typed.file_name()?.to_str()?.to_owned());
        typed.pop();
    };
    let has = |folder: &Path, name: &str| journal::symlink_metadata(&folder.join(name)).is_ok();
    let root = repository_of(&start).unwrap_or(&start);
    for ancestor in start.ancestors().take_while(|ancestor| ancestor.starts_with(root)) {
        if has(ancestor, name) {
            let inside = slashed(start.strip_prefix(ancestor).ok()?)?;
            let segments = [inside].into_iter().filter(|inside| !inside.is_empty()).chain(missing);
            return Some(Nearest { folder: typed_as(typed, ancestor), within: segments.collect::<Vec<_>>().join("/") });
        }
        typed = one_up(typed);
    }
    None
}

/// Returns the path of a directory relative to another directory, with `..` where the path leads up.
pub fn path_between(to: &Path, from: &Path) -> Option<String> {
    let (to, from) = (journal::canonicalize(to).ok()?, journal::canonicalize(from).ok()?);
    let shared = to.components().zip(from.components()).take_while(|(to, from)| to == from).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    slashed(&up.chain(to.components().skip(shared)).collect::<PathBuf>())
}

/// Replaces the empty path with `.`.
fn here(typed: &Path) -> &Path {
    if typed.as_os_str().is_empty() { Path::new(".") } else { typed }
}

fn one_up(mut typed: PathBuf) -> PathBuf {
    if matches!(typed.components().next_back(), Some(Component::Normal(_))) {
        typed.pop();
    } else if typed == Path::new(".") {
        typed = PathBuf::from("..");
    } else {
        typed.push("..");
    }
    typed
}

/// Returns the typed path if it leads to `folder`, else the path of `folder`: links may lead the typed path elsewhere.
fn typed_as(typed: PathBuf, folder: &Path) -> PathBuf {
    if journal::canonicalize(here(&typed)).is_ok_and(|typed| typed == folder) { typed } else { folder.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in files {
            let full = folder.path().join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, "").unwrap();
        }
        folder
    }

    fn found(root: &Path, folder: &str) -> Option<(String, String)> {
        let nearest = nearest(&root.join(folder), "x")?;
        let from_root = nearest.folder.strip_prefix(root).map_or("outside".into(), |path| path.display().to_string());
        Some((from_root, nearest.within))
    }

    #[test]
    fn the_nearest_file_below_the_repository_root_is_found() {
        let folder = repository(&["x", "repo/.git", "repo/a/x", "repo/a/b/y", "repo/c/y"]);
        let root = fs::canonicalize(folder.path()).unwrap();
        let pair = |folder: &str, within: &str| Some((folder.to_owned(), within.to_owned()));
        assert_eq!(found(&root, "repo/a/b"), pair("repo/a", "b"));
        assert_eq!(found(&root, "repo/a"), pair("repo/a", ""));
        assert_eq!(found(&root, "repo/a/b/to/come"), pair("repo/a", "b/to/come"));
        assert_eq!(found(&root, "repo/c"), None, "a file above the repository does not apply");
    }

    #[test]
    fn outside_of_a_repository_only_the_directory_itself_is_searched() {
        let folder = repository(&["x", "a/y"]);
        let root = fs::canonicalize(folder.path()).unwrap();
        if root.ancestors().any(|folder| folder.join(".git").exists()) {
            return;
        }
        assert_eq!(found(&root, "a"), None);
        assert_eq!(found(&root, ""), Some((String::new(), String::new())));
    }

    #[test]
    fn a_relative_path_leads_up_and_down() {
        let folder = repository(&["a/b/y", "c/y"]);
        let way = |to: &str, from: &str| path_between(&folder.path().join(to), &folder.path().join(from)).unwrap();
        assert_eq!([way("c", "a/b"), way("a/b", "a"), way("a", "a")], ["../../c", "b", ""]);
    }
}
