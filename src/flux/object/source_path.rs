//! Paths of Flux objects: where in a source they lead.

/// The folder that a `spec.path` means. Flux joins it below the root of the source: what would lead out of it stops
/// at the root.
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

/// A folder below another one.
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
