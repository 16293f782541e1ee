//! The files in a sparse checkout of a Git repository.

/// Returns whether a sparse checkout of some directories contains a file. Without directories, the checkout contains
/// all files.
///
/// The controller compares prefixes: `app` selects the files of `app`, `apps` and `app.yaml`, `.` selects hidden
/// directories, and a path that starts with `/` selects nothing.
pub(super) fn has(wanted: &[&str], path: &str) -> bool {
    let begins = |folder: &&str| path.starts_with(folder.strip_prefix("./").unwrap_or(folder));
    wanted.is_empty() || wanted.iter().any(begins)
}
