//! Globs of paths, objects and cluster names.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::FormatError;

/// The format of a glob.
pub(super) const GLOB: &str = "glob";

/// Returns the schema of a list of globs.
pub(super) fn globs_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "format": GLOB } })
}

/// Returns the fault of a text that is not a valid glob.
pub(super) fn fault(text: &str) -> Option<FormatError> {
    // A valid glob may still be too large to compile.
    let built = GlobBuilder::new(text).build().and_then(|glob| GlobSetBuilder::new().add(glob).build());
    let error = built.err()?;
    let message = format!("is `{text}`, which is not a valid glob: {}", error.kind());
    let help =
        "use `*` for any text without `/`, `**` for any directories, `{a,b}` for alternatives; close every `[` and `{`";
    Some(FormatError { rule: None, message, help: help.into() })
}

/// Compiles globs of paths. The path of a directory matches all files in it.
pub fn paths(globs: &[String]) -> GlobSet {
    let globs = globs.iter().flat_map(|glob| {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        [glob.to_owned(), format!("{glob}/**")]
    });
    build(globs, Separator::Ends)
}

/// Compiles globs of objects, as `Kind/namespace/name`.
pub fn objects(globs: &[String]) -> GlobSet {
    build(globs.iter().cloned(), Separator::Ends)
}

/// Compiles globs of cluster names. `*` also matches `/`, which the name of a remote cluster contains.
pub fn clusters(globs: &[String]) -> GlobSet {
    build(globs.iter().cloned(), Separator::Matches)
}

/// The treatment of `/` by `*`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `*` does not match `/`.
    Ends,
    /// `*` matches `/`.
    Matches,
}

/// Compiles globs. The schema reports invalid globs; they match nothing.
fn build(globs: impl Iterator<Item = String>, separator: Separator) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in
        globs.filter_map(|text| GlobBuilder::new(&text).literal_separator(separator == Separator::Ends).build().ok())
    {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_matches_all_files_in_it() {
        for glob in ["examples", "examples/", "./examples", "examples/**", "exam*"] {
            let set = paths(&[glob.into()]);
            assert!(set.is_match("examples/a/b.yaml"), "{glob}");
            assert!(!set.is_match("apps/examples/a.yaml"), "{glob}");
        }
        assert!(paths(&["*.yaml".into()]).is_match("a.yaml") && !paths(&["*.yaml".into()]).is_match("a/b.yaml"));
    }

    #[test]
    fn a_star_matches_a_slash_only_in_cluster_names() {
        assert!(clusters(&["prod*".into()]).is_match("prod/edge"));
        assert!(!objects(&["Kustomization/*".into()]).is_match("Kustomization/apps/web"));
    }

    #[test]
    fn an_invalid_glob_is_a_fault() {
        assert!(fault("a[b").is_some_and(|fault| fault.message.contains("not a valid glob")));
        assert!(fault("{a,b").is_some());
        assert!(fault("**/x/{a,b}/[ab]?").is_none());
    }
}
