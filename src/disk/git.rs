//! Queries to `git` about a directory. The repository may be hostile: `git` runs without any setting that starts a
//! program.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use super::error::DiskError;
use super::journal::{self, Hash, hash_of};

/// Returns whether a directory belongs to a Git repository.
pub(super) fn is_repository(root: &Path) -> bool {
    root.ancestors().any(|folder| journal::metadata(&folder.join(".git")).is_ok())
}

/// The maximum duration of a query. `git` reads files of `.git`, and never ends if one of them is a pipe.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of an answer in bytes. The list of a million files is smaller, but a few small objects of Git can contain
/// a hundred million files.
const MAX_ANSWER: u64 = 256 << 20;

/// Variables that reference another repository, as in a hook. The supervisor removes all variables of `git`.
const REMOVED: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"];

/// Returns the files below a directory that Git tracks; `None` if Git cannot list them.
///
/// The names are bytes, since Git and Flux also read files whose names are not valid UTF-8.
pub(super) fn tracked(root: &Path) -> Result<Option<Vec<Vec<u8>>>, DiskError> {
    let names = list_tracked(root)?;
    journal::tracked(root, names.as_deref());
    let split =
        |names: Vec<u8>| names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect();
    Ok(names.map(split))
}

/// Returns the digest of the files below a directory that Git tracks.
pub(super) fn digest_of_tracked(root: &Path) -> Result<Hash, DiskError> {
    Ok(hash_of(list_tracked(root)?.as_deref()))
}

/// Lists all files, since only Git itself knows which of them its .gitignore files match.
fn list_tracked(root: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    let mut git = command(root);
    git.args(["ls-files", "-z", "--cached"]);
    Running::start(git).map_or(Ok(None), |running| running.output(root))
}

/// Returns the URLs of the remotes of the Git repository whose working tree is a directory; none if the directory is a part
/// of a working tree.
pub fn remotes(root: &Path) -> Result<Vec<String>, DiskError> {
    // The journal does not contain the configuration of Git.
    journal::doubt();
    if journal::metadata(&root.join(".git")).is_err() {
        return Ok(Vec::new());
    }
    let mut git = command(root);
    git.args(["config", "--get-regexp", r"^remote\..*\.url$"]);
    let listed = Running::start(git).map_or(Ok(None), |running| running.output(root))?.unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    Ok(listed.lines().filter_map(|line| Some(line.split_once(' ')?.1.trim().to_owned())).collect())
}

/// Returns `git` in a directory, without arguments. It starts no other program.
pub(super) fn command(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(root)
        // A pull request may contain a directory in the form of a bare repository, with a configuration of its own.
        .args(["-c", "safe.bareRepository=explicit"])
        .args(["-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.hooksPath=/dev/null"])
        .arg("--no-pager")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        // Flux knows no replaced objects. Without them, the id of a file determines its content.
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for variable in REMOVED {
        git.env_remove(variable);
    }
    git
}

/// A running `git`. A thread reads its output.
pub(super) struct Running {
    process: Child,
    output: Receiver<Option<Vec<u8>>>,
}

impl Running {
    /// Starts `git`; `None` if it cannot start.
    pub(super) fn start(mut git: Command) -> Option<Self> {
        let mut process = git.spawn().ok()?;
        let (sender, output) = mpsc::channel();
        let stdout = process.stdout.take();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let stdout = stdout.map(|stdout| stdout.take(MAX_ANSWER + 1));
            let is_read = stdout.is_some_and(|mut stdout| stdout.read_to_end(&mut bytes).is_ok());
            let _ = sender.send(is_read.then_some(bytes));
        });
        Some(Self { process, output })
    }

    /// Waits for the output; `None` if `git` fails. `root` is the directory that the error names.
    pub(super) fn output(mut self, root: &Path) -> Result<Option<Vec<u8>>, DiskError> {
        let Ok(bytes) = self.output.recv_timeout(TIMEOUT) else {
            let why = format!("`git` did not end in {} s; is a file of `.git` a pipe?", TIMEOUT.as_secs());
            return Err(DiskError::refused("read", root)(io::Error::other(why)));
        };
        if bytes.as_ref().is_some_and(|bytes| bytes.len() as u64 > MAX_ANSWER) {
            let why = format!("`git` lists more than {} MiB of files", MAX_ANSWER >> 20);
            return Err(DiskError::refused("read", root)(io::Error::other(why)));
        }
        let succeeded = self.process.wait().is_ok_and(|status| status.success());
        Ok(bytes.filter(|_| succeeded))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
