//! Paths as Go cleans and joins them.

/// The shortest spelling of a path; empty for the folder itself. `..` that lead out stay, and so does a leading `/`.
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

/// A path below a folder, cleaned.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { clean(path) } else { clean(&format!("{folder}/{path}")) }
}

/// Tells whether a cleaned path leads out of the folder that it starts in.
pub(super) fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path == ".." || path.starts_with("../")
}

/// The last segment of a cleaned path; empty for the folder itself.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
