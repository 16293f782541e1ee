//! A directory that confines all paths of a repository. No other file resolves these paths or opens files.
//!
//! The author of a repository also controls its paths and its symbolic links. [`Root::find`] follows links itself, one
//! component at a time, and examines nothing outside the root. [`Root::file`] follows no link, so a link that replaces
//! a file between the two calls is not followed either.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::error::{DiskError, missing, reason};
use super::journal;
use super::place::{is_git, is_plain, refuse_leaving_link};
use crate::text::LoadError;

/// The maximum number of links in one path, as in Linux.
const MAX_LINKS: usize = 40;
/// The maximum number of components in one path, including the components of its links.
const MAX_STEPS: usize = 1024;

/// A directory that confines all paths.
#[derive(Debug)]
pub(super) struct Root {
    /// The canonical path.
    path: PathBuf,
    #[cfg(unix)]
    directory: std::os::fd::OwnedFd,
}

/// The result of a path lookup below a root. Its paths are relative to the root and contain no link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The path does not exist.
    Nothing,
    /// The path cannot be read, for this reason.
    Unreadable(String),
    /// A file.
    File(PathBuf),
    /// A directory.
    Folder(PathBuf),
    /// A device, a pipe or a socket.
    Special,
    /// The path is refused.
    Refused(Refusal),
}

/// The reason why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The path itself leads out of the root.
    Outside,
    /// A symbolic link in the path leads out of the root or to a missing file, or forms a cycle.
    Link,
    /// The path leads into a `.git` directory.
    Git,
}

impl Root {
    /// Opens a directory by a path that a user typed, unless a symbolic link in the path leads out of its repository.
    pub(super) fn open(typed: &Path) -> Result<Self, DiskError> {
        refuse_leaving_link(typed)?;
        let path = journal::canonicalize(typed).map_err(|error| missing(typed, error))?;
        Self::at(path).map_err(DiskError::refused("read", typed))
    }

    /// Opens a directory by its canonical path.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        #[cfg(unix)]
        let directory = rustix::fs::open(&path, unix::DIRECTORY, rustix::fs::Mode::empty())?;
        Ok(Self {
            path,
            #[cfg(unix)]
            directory,
        })
    }

    /// Returns the canonical path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks up a path. Follows links only to files and directories below the root.
    pub(super) fn find(&self, path: &str) -> Place {
        self.find_from(Path::new(""), path)
    }

    /// Looks up a path relative to a directory below the root. The path of that directory contains no link.
    pub(super) fn find_from(&self, folder: &Path, path: &str) -> Place {
        let mut real = folder.to_owned();
        let mut rest = reversed(Path::new(path));
        let (mut links, mut steps) = (0, 0);
        let mut is_folder = true;
        while let Some(component) = rest.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return if links > 0 { Place::Refused(Refusal::Link) } else { Place::Nothing };
            }
            let refused = |refusal| Place::Refused(if links > 0 { Refusal::Link } else { refusal });
            match Path::new(&component).components().next() {
                Some(Component::CurDir) | None => continue,
                Some(Component::ParentDir) => {
                    if !is_folder {
                        return Place::Nothing;
                    }
                    if !real.pop() {
                        return refused(Refusal::Outside);
                    }
                    continue;
                }
                Some(Component::RootDir | Component::Prefix(_)) => return refused(Refusal::Outside),
                Some(Component::Normal(name)) if is_git(name) => return refused(Refusal::Git),
                Some(Component::Normal(name)) => real.push(name),
            }
            if !is_folder {
                return Place::Nothing;
            }
            let full = self.path.join(&real);
            let metadata = match journal::symlink_metadata(&full) {
                Ok(metadata) => metadata,
                Err(error) if is_missing(&error) && links > 0 => return Place::Refused(Refusal::Link),
                Err(error) if is_missing(&error) => return Place::Nothing,
                Err(error) => return Place::Unreadable(reason(&error)),
            };
            if metadata.is_symlink() {
                links += 1;
                let target = if links > MAX_LINKS { None } else { fs::read_link(&full).ok() };
                let Some(target) = target else { return Place::Refused(Refusal::Link) };
                real.pop();
                match target.strip_prefix(&self.path) {
                    Ok(inside) => {
                        real.clear();
                        rest.extend(reversed(inside));
                    }
                    Err(_) => rest.extend(reversed(&target)),
                }
            } else if metadata.is_file() {
                is_folder = false;
            } else if !metadata.is_dir() {
                return Place::Special;
            }
        }
        if is_folder { Place::Folder(real) } else { Place::File(real) }
    }

    /// Opens a file by a path that contains no link and no `.git`.
    pub(super) fn file(&self, path: &Path) -> Result<(fs::File, fs::Metadata), LoadError> {
        if !is_plain(path) {
            return Err(LoadError::Linked);
        }
        let unreadable = |error: io::Error| LoadError::Unreadable(reason(&error));
        let file = self.open_file(path)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(LoadError::Unreadable("it is not a regular file".to_owned()));
        }
        Ok((file, metadata))
    }

    /// Opens a directory below the root as another root, by a path that contains no link and no `.git`.
    pub(super) fn enter(&self, path: &Path) -> Result<Self, LoadError> {
        if !is_plain(path) {
            return Err(LoadError::Linked);
        }
        #[cfg(unix)]
        let directory = self.open_directory(path)?;
        Ok(Self {
            path: self.path.join(path),
            #[cfg(unix)]
            directory,
        })
    }

    /// Returns the names in a directory, by a path that contains no link, or nothing if the directory cannot be listed.
    pub(super) fn names(&self, path: &Path) -> Vec<String> {
        journal::doubt();
        let names = if is_plain(path) { self.list(path).unwrap_or_default() } else { Vec::new() };
        names.into_iter().filter(|name| !is_git(name.as_ref())).collect()
    }
}

fn reversed(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|component| component.as_os_str().into()).collect()
}

/// Returns whether the error proves that no file exists, as for a name with a NUL byte or with 5,000 letters.
fn is_missing(error: &io::Error) -> bool {
    let kinds = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidInput, ErrorKind::InvalidFilename];
    kinds.contains(&error.kind())
}

#[cfg(unix)]
mod unix {
    //! Opens files below an open directory: the kernel resolves the path without following links.

    use std::ffi::OsStr;
    use std::fs;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::{Root, reason};
    use crate::text::LoadError;

    pub(super) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    /// The flags for files. `NONBLOCK`: a pipe in the place of a file does not block. `NOCTTY`: a terminal does not
    /// become the controlling terminal.
    const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

    impl Root {
        pub(super) fn open_file(&self, path: &Path) -> Result<fs::File, LoadError> {
            Ok(open(self.directory.as_fd(), path, FILE).map_err(refuse)?.into())
        }

        pub(super) fn open_directory(&self, path: &Path) -> Result<OwnedFd, LoadError> {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            open(self.directory.as_fd(), path, DIRECTORY).map_err(refuse)
        }

        pub(super) fn list(&self, path: &Path) -> Result<Vec<String>, LoadError> {
            let directory = self.open_directory(path)?;
            let entries = rustix::fs::Dir::read_from(directory).map_err(refuse)?;
            let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_str().ok()?.to_owned()));
            Ok(names.filter(|name| name != "." && name != "..").collect())
        }
    }

    fn refuse(errno: Errno) -> LoadError {
        match errno {
            Errno::LOOP | Errno::MLINK | Errno::XDEV => LoadError::Linked,
            other => LoadError::Unreadable(reason(&other.into())),
        }
    }

    #[cfg(target_os = "linux")]
    fn open(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        use rustix::fs::{ResolveFlags, openat2};
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&root, path, flags, Mode::empty(), beneath) {
            // Kernels before 5.6 lack `openat2`, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM) => open_by_steps(root, path, flags),
            result => result,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_by_steps(root, path, flags)
    }

    /// Opens each directory of a path relative to its parent.
    pub(super) fn open_by_steps(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let step = |folder: &dyn AsFd, name: &OsStr, flags: OFlags| {
            openat(folder.as_fd(), name, flags | OFlags::NOFOLLOW, Mode::empty())
        };
        let mut names: Vec<&OsStr> = path.iter().collect();
        let last = names.pop().ok_or(Errno::NOENT)?;
        let mut folder: Option<OwnedFd> = None;
        for name in names {
            let next = match &folder {
                Some(folder) => step(folder, name, DIRECTORY),
                None => step(&root, name, DIRECTORY),
            };
            folder = Some(next?);
        }
        match &folder {
            Some(folder) => step(folder, last, flags),
            None => step(&root, last, flags),
        }
    }
}

#[cfg(not(unix))]
mod portable {
    //! Opens files by the full path, then compares the open file with the file that the path leads to without links.

    use std::fs;
    use std::path::Path;

    use same_file::Handle;

    use super::{Place, Root, reason};
    use crate::text::LoadError;

    impl Root {
        pub(super) fn open_file(&self, path: &Path) -> Result<fs::File, LoadError> {
            let unreadable = |error: std::io::Error| LoadError::Unreadable(reason(&error));
            let full = self.path.join(path);
            let file = fs::File::open(&full).map_err(unreadable)?;
            let opened = Handle::from_file(file.try_clone().map_err(unreadable)?).map_err(unreadable)?;
            let text = path.to_str().ok_or(LoadError::Linked)?;
            let is_plain = self.find(text) == Place::File(path.to_owned());
            let is_same = Handle::from_path(&full).is_ok_and(|there| there == opened);
            if is_plain && is_same { Ok(file) } else { Err(LoadError::Linked) }
        }

        pub(super) fn list(&self, path: &Path) -> Result<Vec<String>, LoadError> {
            let entries = fs::read_dir(self.path.join(path));
            let entries = entries.map_err(|error| LoadError::Unreadable(reason(&error)))?;
            Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates a root `in` beside a directory `out`. Both contain `a/file` with their name as text.
    fn roots() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["in", "out", "in/.git"] {
            fs::create_dir_all(folder.path().join(name).join("a")).unwrap();
            fs::write(folder.path().join(name).join("a/file"), name).unwrap();
        }
        let root = Root::open(&folder.path().join("in")).unwrap();
        (folder, root)
    }

    fn text(root: &Root, path: &str) -> Result<String, LoadError> {
        let mut text = String::new();
        root.file(Path::new(path))?.0.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn links_are_followed_only_below_the_root() {
        let (folder, root) = roots();
        let link = |target: &Path, name: &str| symlink(target, folder.path().join("in").join(name)).unwrap();
        link(Path::new("a"), "inside");
        link(&root.path().join("a/file"), "absolute");
        link(Path::new("inside/../a/./file"), "through");
        for path in ["a/file", "inside/file", "absolute", "through", "a/../a/file", "inside/../a/file"] {
            assert_eq!(root.find(path), Place::File("a/file".into()), "{path}");
        }
        link(Path::new("../out"), "out");
        link(&folder.path().join("out/a/file"), "out-file");
        link(Path::new("../in/a/file"), "out-and-in");
        link(Path::new("/"), "slash");
        link(Path::new("missing"), "dangling");
        link(Path::new("cycle"), "cycle");
        link(Path::new(".git"), "git");
        link(Path::new("a/../.GIT/a/file"), "git-file");
        for path in
            ["out", "out/a/file", "out/..", "out-file", "out-and-in", "slash", "dangling", "cycle", "git", "git-file"]
        {
            assert_eq!(root.find(path), Place::Refused(Refusal::Link), "{path}");
        }
        for path in ["..", "../out/a/file", "a/../../out", "/", "/etc/passwd"] {
            assert_eq!(root.find(path), Place::Refused(Refusal::Outside), "{path}");
        }
        for path in [".git", ".git/a/file", "a/../.Git/a", "git~1/a", ".git./a", ".git ", ".git::$DATA", ".g\u{200c}it"]
        {
            assert_eq!(root.find(path), Place::Refused(Refusal::Git), "{path}");
        }
        for path in ["a/file/..", "a/file/x", "b", "a\0", "..\\out"] {
            assert_eq!(root.find(path), Place::Nothing, "{path:?}");
        }
        assert_eq!(root.find(&"a".repeat(5000)), Place::Nothing);
        assert_eq!(root.find(&"a/../".repeat(5000)), Place::Nothing);
        link(Path::new(&"a/../".repeat(600)), "slow");
        assert_eq!(root.find("slow"), Place::Refused(Refusal::Link));
        assert_eq!(root.find("inside/../"), Place::Folder("".into()));
    }

    /// Replaces a path between its lookup and the opening of the file.
    #[test]
    fn a_link_that_replaces_a_file_after_lookup_is_not_followed() {
        for (replaced, target) in [
            ("a/file", "../../out/a/file"),
            ("a/file", "../.git/a/file"),
            ("a", "../out/a"),
            ("a", ".git/a"),
            ("a", "b"),
        ] {
            let (folder, root) = roots();
            let Place::File(found) = root.find("a/file") else { panic!("the file exists") };
            assert_eq!(text(&root, "a/file").unwrap(), "in");
            fs::rename(root.path().join("a"), root.path().join("b")).unwrap();
            if replaced == "a/file" {
                fs::create_dir(root.path().join("a")).unwrap();
            }
            symlink(target, folder.path().join("in").join(replaced)).unwrap();
            assert!(root.file(&found).is_err(), "{replaced} -> {target}");
            let by_steps = unix::open_by_steps(&root.directory, &found, rustix::fs::OFlags::RDONLY);
            assert!(by_steps.is_err(), "{replaced} -> {target}");
            assert!(replaced == "a/file" || root.names(Path::new("a")).is_empty(), "{target}");
            assert!(replaced == "a/file" || root.enter(Path::new("a")).is_err(), "{target}");
        }
    }

    #[test]
    fn a_pipe_that_replaces_a_file_does_not_block() {
        let (_folder, root) = roots();
        fs::remove_file(root.path().join("a/file")).unwrap();
        let status = std::process::Command::new("mkfifo").arg(root.path().join("a/file")).status().unwrap();
        assert!(status.success());
        assert!(root.file(Path::new("a/file")).is_err());
        assert_eq!(root.find("a/file"), Place::Special);
    }

    #[test]
    fn a_replaced_root_stays_the_opened_directory() {
        let (folder, root) = roots();
        fs::rename(folder.path().join("in"), folder.path().join("moved")).unwrap();
        symlink("out", folder.path().join("in")).unwrap();
        assert_eq!(text(&root, "a/file").unwrap(), "in");
    }

    #[test]
    fn both_ways_to_open_agree() {
        let (_folder, root) = roots();
        assert_eq!(text(&root, "a/file").unwrap(), "in");
        let mut by_steps = String::new();
        let file = unix::open_by_steps(&root.directory, Path::new("a/file"), rustix::fs::OFlags::RDONLY).unwrap();
        fs::File::from(file).read_to_string(&mut by_steps).unwrap();
        assert_eq!(by_steps, "in");
        for path in ["../out/a/file", "/etc/passwd", ".git/a/file", "a/../a/file"] {
            assert!(root.file(Path::new(path)).is_err(), "{path}");
        }
    }
}
