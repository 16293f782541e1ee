//! Globs: of paths, of objects, of clusters' names.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::Fault;

/// The format of a glob.
pub(super) const GLOB: &str = "glob";

/// A list of globs in a schema.
pub(super) fn globs_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "format": GLOB } })
}

/// What is wrong with a text that shall be a glob.
pub(super) fn fault(text: &str) -> Option<Fault> {
    // A glob that reads well may still be too large to match with.
    let built = GlobBuilder::new(text).build().and_then(|glob| GlobSetBuilder::new().add(glob).build());
    let error = built.err()?;
    let message = format!("is `{text}`, which is no glob: {}", error.kind());
    let help = "`*` is any text in a folder's name, `**` any folders, `{a,b}` one of two; `[` and `{` need their ends";
    Some(Fault { rule: None, message, help: help.into() })
}

/// Globs of paths: a folder's name means all that is in it.
pub fn paths(globs: &[String]) -> GlobSet {
    let globs = globs.iter().flat_map(|glob| {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        [glob.to_owned(), format!("{glob}/**")]
    });
    build(globs, Separator::Ends)
}

/// Globs of objects, as `Kind/namespace/name`.
pub fn objects(globs: &[String]) -> GlobSet {
    build(globs.iter().cloned(), Separator::Ends)
}

/// Globs of clusters' names: `*` is any text, since the name of a remote cluster has a `/` in it.
pub fn clusters(globs: &[String]) -> GlobSet {
    build(globs.iter().cloned(), Separator::Matches)
}

/// What `*` makes of a `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// It ends what `*` stands for.
    Ends,
    /// It is a character as any other.
    Matches,
}

/// One that cannot be read is a mistake that the schema reports; it matches nothing.
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
    fn a_folder_is_all_that_is_in_it() {
        for glob in ["examples", "examples/", "./examples", "examples/**", "exam*"] {
            let set = paths(&[glob.into()]);
            assert!(set.is_match("examples/a/b.yaml"), "{glob}");
            assert!(!set.is_match("apps/examples/a.yaml"), "{glob}");
        }
        assert!(paths(&["*.yaml".into()]).is_match("a.yaml") && !paths(&["*.yaml".into()]).is_match("a/b.yaml"));
    }

    #[test]
    fn a_star_reaches_into_remote_clusters_and_not_into_folders() {
        assert!(clusters(&["prod*".into()]).is_match("prod/edge"));
        assert!(!objects(&["Kustomization/*".into()]).is_match("Kustomization/apps/web"));
    }

    #[test]
    fn what_is_no_glob_is_a_fault() {
        assert!(fault("a[b").is_some_and(|fault| fault.message.contains("no glob")));
        assert!(fault("{a,b").is_some());
        assert!(fault("**/x/{a,b}/[ab]?").is_none());
    }
}
