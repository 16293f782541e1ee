//! The files that a sparse checkout of a Git repository has.

/// Tells whether a file is checked out when only some folders are wanted; with none named, all are.
///
/// The controller compares texts: `app` has the files of `app`, `apps` and `app.yaml`, `.` has those of hidden folders,
/// and a path that begins with `/` has none.
pub(super) fn has(wanted: &[&str], path: &str) -> bool {
    let begins = |folder: &&str| path.starts_with(folder.strip_prefix("./").unwrap_or(folder));
    wanted.is_empty() || wanted.iter().any(begins)
}
