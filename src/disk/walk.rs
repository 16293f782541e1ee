//! Lists the files of a directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::error::{DiskError, display, reason};
use super::git;
use super::journal;
use super::place;
use super::root::{Place, Refusal, Root};

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
/// unless Git tracks them: Flux reads every tracked file. If Git cannot list the tracked files, or without a Git
/// repository, as in an unpacked archive, also includes ignored files. Does not read other ignore files, so that the
/// result is the same on each machine.
pub(super) fn files(root: &Root) -> Result<Vec<(String, FoundFile)>, DiskError> {
    if !git::is_repository(root.path()) {
        return Ok(walk(root, Ignored::Included)?.files);
    }
    let walked = walk(root, Ignored::Excluded)?;
    if !walked.ignores {
        return Ok(walked.files);
    }
    let Some(tracked) = git::tracked(root.path())? else { return Ok(walk(root, Ignored::Included)?.files) };
    let mut files = walked.files;
    let missed: Vec<Vec<u8>> = {
        let known: BTreeSet<&[u8]> = files.iter().map(|(path, _)| path.as_bytes()).collect();
        tracked.into_iter().filter(|path| !known.contains(path.as_slice())).collect()
    };
    files.extend(missed.into_iter().filter_map(|path| find(root, path)));
    Ok(files)
}

/// The treatment of files that a .gitignore matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Included,
    Excluded,
}

/// The result of a walk.
struct Walked {
    files: Vec<(String, FoundFile)>,
    /// Whether a directory has a .gitignore, which can match itself.
    ignores: bool,
}

/// What a walk meets, apart from files that it may read.
#[derive(Default)]
struct Met {
    /// Whether a directory has a .gitignore.
    ignores: bool,
    /// The .gitignore files that the walker must not read.
    special: BTreeSet<PathBuf>,
    /// The files and directories whose names are other spellings of `.git`.
    like_git: Vec<PathBuf>,
}

impl Met {
    /// Examines the .gitignore of a directory, and returns whether the walker may read it.
    fn examine(&mut self, folder: &Path) -> bool {
        let path = folder.join(".gitignore");
        let Ok(metadata) = fs::symlink_metadata(&path) else { return true };
        self.ignores = true;
        let is_usual = is_usual_ignore_file(&path, &metadata);
        if !is_usual {
            self.special.insert(path);
        }
        is_usual
    }
}

fn walk(root: &Root, ignored: Ignored) -> Result<Walked, DiskError> {
    let (opened, root) = (root, root.path());
    // The walker opens any .gitignore, even a symbolic link. A pull request may set the target of such a link.
    let shared: Arc<Mutex<Met>> = Arc::default();
    let met = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    if !met().examine(root) {
        return Err(refuse_ignore_file(&root.join(".gitignore")));
    }
    let of_walker = shared.clone();
    journal::folder(root);
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .git_ignore(ignored == Ignored::Excluded)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            let met = || of_walker.lock().unwrap_or_else(PoisonError::into_inner);
            if entry.depth() > 0 && place::is_git(entry.file_name()) {
                let is_other = entry.file_name() != ".git";
                met().like_git.extend(is_other.then(|| entry.path().to_owned()));
                return false;
            }
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let is_usual = met().examine(entry.path());
            if is_usual {
                journal::folder(entry.path());
            }
            is_usual
        });
    let (sender, entries) = mpsc::channel();
    walk.threads(rayon::current_num_threads()).build_parallel().run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            let looked = entry.map(|entry| look(opened, &entry));
            if sender.send(looked).is_ok() { WalkState::Continue } else { WalkState::Quit }
        })
    });
    drop(sender);
    let mut files = Vec::new();
    for entry in entries {
        match entry {
            Ok(file) => files.extend(file),
            Err(error) => match path_of(&error).and_then(|path| path.strip_prefix(root).ok()) {
                Some(path) if !path.as_os_str().is_empty() => {
                    journal::doubt();
                    let why = error.io_error().map_or_else(|| error.to_string(), reason);
                    files.extend(place::slashed(path).map(|path| (path, FoundFile::Unreadable(why))));
                }
                _ => {
                    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("it cannot be listed"));
                    return Err(DiskError::Refused { action: "read", path: display(root), source });
                }
            },
        }
    }
    let met = met();
    if let Some(path) = met.special.first() {
        return Err(refuse_ignore_file(path));
    }
    let like_git = met.like_git.iter().filter_map(|path| path.strip_prefix(root).ok());
    files.extend(like_git.map(|path| (lossy(path), FoundFile::Unreadable(LIKE_GIT.to_owned()))));
    Ok(Walked { files, ignores: met.ignores })
}

/// Returns the kind of a file that Git tracks; `None` if the working directory does not have it.
fn find(root: &Root, path: Vec<u8>) -> Option<(String, FoundFile)> {
    let path = match String::from_utf8(path) {
        Ok(path) => path,
        Err(error) => return Some((String::from_utf8_lossy(error.as_bytes()).into_owned(), FoundFile::Special)),
    };
    match root.find(&path) {
        Place::File(real) if real == Path::new(&path) => Some((path, FoundFile::File)),
        Place::File(_) => Some((path, FoundFile::Linked)),
        Place::Refused(Refusal::Git) => Some((path, FoundFile::Unreadable(LIKE_GIT.to_owned()))),
        Place::Refused(_) => Some((path, FoundFile::Link)),
        Place::Unreadable(why) => Some((path, FoundFile::Unreadable(why))),
        Place::Special => Some((path, FoundFile::Special)),
        Place::Nothing | Place::Folder(_) => None,
    }
}

/// The maximum number of wildcards in a .gitignore. The time is the product of the wildcards and the paths.
const MAX_WILDCARDS: usize = 2_000;

/// The maximum length of a .gitignore in bytes. The walker compiles each line.
const MAX_IGNORE_FILE: u64 = 1 << 20;

/// Returns whether a .gitignore is a file, and neither too long nor with too many wildcards.
fn is_usual_ignore_file(path: &Path, metadata: &fs::Metadata) -> bool {
    let has_many = || {
        let text = fs::read(path).unwrap_or_default();
        text.iter().filter(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{')).count() > MAX_WILDCARDS
    };
    let is_long = metadata.len() > MAX_IGNORE_FILE;
    metadata.is_dir() || (metadata.is_file() && !is_long && !(metadata.len() > MAX_WILDCARDS as u64 && has_many()))
}

fn refuse_ignore_file(path: &Path) -> DiskError {
    let why = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() > MAX_IGNORE_FILE => {
            format!("it has more than {MAX_IGNORE_FILE} bytes; list directories instead")
        }
        Ok(metadata) if metadata.is_file() => {
            format!("it has more than {MAX_WILDCARDS} wildcards; list directories instead")
        }
        _ => "it is a link or a special file, which Git does not follow either; replace it with a regular file"
            .to_owned(),
    };
    DiskError::refused("read", path)(std::io::Error::other(why))
}

/// The reason why a directory is not read whose name is another spelling of `.git`. On Linux, Git and Flux read it.
const LIKE_GIT: &str = "a file system may treat its name as `.git`; rename it";

fn look(root: &Root, entry: &DirEntry) -> Option<(String, FoundFile)> {
    let relative = entry.path().strip_prefix(root.path()).ok()?;
    let kind = entry.file_type()?;
    if relative.as_os_str().is_empty() || kind.is_dir() {
        return None;
    }
    let Some(path) = place::slashed(relative) else {
        return Some((lossy(relative), FoundFile::Special));
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

/// A path for display, with `/` between segments.
fn lossy(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
