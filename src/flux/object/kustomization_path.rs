//! Paths in sources.

/// The directory of a `spec.path`. Flux joins the path to the root of the source: `..` does not lead out of the root.
pub(crate) fn clamp(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    segments.join("/")
}

/// Joins the paths of two directories.
pub(crate) fn below(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", path) => path.to_string(),
        (folder, "") => folder.to_string(),
        (folder, path) => format!("{folder}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_leads_out_of_its_source() {
        assert_eq!(clamp("./a/../../b//c/"), "b/c");
        assert_eq!(clamp("../../.."), "");
        assert_eq!(clamp("/a"), "a");
        assert_eq!(below("a", &clamp("./")), "a");
    }
}
