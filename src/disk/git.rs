//! Queries to `git` about a directory. The repository may be hostile: `git` runs without any setting that starts a
//! program.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns whether a directory belongs to a Git repository.
pub(super) fn is_repository(root: &Path) -> bool {
    root.ancestors().any(|folder| folder.join(".git").exists())
}

/// Returns the files that Git tracks although a .gitignore matches them, or nothing if `git` fails.
pub(super) fn tracked_but_ignored(root: &Path) -> Vec<String> {
    if !is_repository(root) {
        return Vec::new();
    }
    let mut git = command(root);
    git.args(["ls-files", "-z", "-c", "-i", "--exclude-standard"]);
    let Some(output) = git.output().ok().filter(|output| output.status.success()) else { return Vec::new() };
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
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
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    // In a hook, the environment references the repository of the commit, which may not be the repository that is read.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    git
}
