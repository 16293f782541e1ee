//! What Git knows of a folder. The repository may be hostile: git runs with everything closed that could run a program.

use std::path::Path;
use std::process::{Command, Stdio};

/// The files that Git tracks although a .gitignore names them; none when git cannot say.
pub(super) fn tracked_but_ignored(root: &Path) -> Vec<String> {
    if !root.ancestors().any(|folder| folder.join(".git").exists()) {
        return Vec::new();
    }
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(root)
        // A folder that a pull request lays out like a bare repository would bring its own configuration.
        .args(["-c", "safe.bareRepository=explicit"])
        .args(["-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.hooksPath=/dev/null"])
        .arg("--no-pager")
        .args(["ls-files", "-z", "-c", "-i", "--exclude-standard"])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    // A hook's environment names the repository that is committed to, which need not be the one that is read.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    let Some(output) = git.output().ok().filter(|output| output.status.success()) else { return Vec::new() };
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
}
