//! The paths that a layout may write, and that a lock may list.

use crate::text::{is_git_name, normalize};

/// The maximum length of a path in bytes. All file systems that fleetwright supports permit this length.
const MAX_LEN: usize = 1_024;

/// The maximum length of a name in bytes.
const MAX_NAME: usize = 255;

/// The start of the names of the files and directories that fleetwright keeps in the root of a repository.
const OWN: &str = ".fleetwright";

/// Returns why a path is not a valid output path.
pub(super) fn refusal(path: &str) -> Option<String> {
    if path.len() > MAX_LEN {
        return Some(format!("it is longer than {MAX_LEN} bytes"));
    }
    if path.is_empty() || normalize(path).as_deref() != Some(path) {
        return Some("it is not the normal form of a path in the repository".to_owned());
    }
    if path.contains(|c: char| c.is_control() || c == '\\') {
        return Some("it has a backslash or a control character".to_owned());
    }
    if path.split('/').any(is_git_name) {
        return Some("it is in `.git`".to_owned());
    }
    if path.get(..OWN.len()).is_some_and(|start| start.eq_ignore_ascii_case(OWN)) {
        return Some(format!("names in the root that start with `{OWN}` are reserved"));
    }
    let long = path.split('/').any(|name| name.len() > MAX_NAME);
    long.then(|| format!("a name in it is longer than {MAX_NAME} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_cannot_be_written_are_refused() {
        for path in ["clusters/a/kustomization.yaml", ".github/x.yaml", "a/.fleetwright.yaml", "git/a"] {
            assert_eq!(refusal(path), None, "{path}");
        }
        let deep = "a/".repeat(600) + "x";
        let long = "n".repeat(300);
        let refused =
            ["", "../a", "/a", "a//b", "a/.GIT/x", "a/git~1/x", ".fleetwright.lock/x", ".Fleetwright.tmp", "a\\b"];
        for path in refused.into_iter().chain([deep.as_str(), long.as_str()]) {
            assert!(refusal(path).is_some(), "{path}");
        }
    }
}
