//! Paths, cleaned and joined as in Go.

/// Cleans a path; the result is empty for the directory itself. Keeps a leading `/`, and any `..` that leaves the
/// directory.
pub(super) fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if is_absolute => {}
            other => segments.push(other),
        }
    }
    let cleaned = segments.join("/");
    if is_absolute { format!("/{cleaned}") } else { cleaned }
}

/// Joins a directory and a path, and cleans the result.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { clean(path) } else { clean(&format!("{folder}/{path}")) }
}

/// Returns whether a cleaned path leaves its directory.
pub(super) fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path == ".." || path.starts_with("../")
}

/// The last segment of a cleaned path; empty for the directory itself.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
