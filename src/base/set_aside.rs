//! Directories whose names indicate that clusters do not apply their contents.

/// The words in the names of directories that clusters do not apply, unless a cluster reaches such a directory.
///
/// For example, a cluster may have the name `test`.
const ASIDE: &[&str] = &[
    "disabled", "doc", "docs", "e2e", "example", "examples", "fixture", "fixtures", "sample", "samples", "test",
    "testdata", "testing", "tests",
];

/// The words in the names of directories with former files, which clusters do not apply either.
const FORMER: &[&str] = &[
    "archive",
    "archived",
    "archives",
    "attic",
    "backup",
    "bak",
    "deferred",
    "deprecated",
    "graveyard",
    "inactive",
    "obsolete",
    "orig",
    "retired",
    "unused",
];

/// Further words for former files. Clusters often apply a directory with one of these words in its name, but not a whole
/// repository in it.
const OLD: &[&str] = &["legacy", "old"];

/// The words in the names of directories that users copy for each new cluster.
const TEMPLATES: &[&str] = &[
    "boilerplate",
    "cookiecutter",
    "scaffold",
    "scaffolds",
    "skeleton",
    "skeletons",
    "template",
    "templates",
    "tmpl",
    "tpl",
];

/// The words in the names of directories that another program renders.
const BUILDING_BLOCKS: &[&str] = &["chart", "charts"];

/// Returns whether a file is set aside, according to its name or the name of a directory above it.
///
/// `is_reached` returns whether a cluster receives objects from a directory.
pub fn is_set_aside(path: &str, is_reached: impl Fn(&str) -> bool) -> bool {
    is_set_aside_beside(path, is_reached, |_| true)
}

/// Returns whether a file is set aside, as [`is_set_aside`] does. A directory with the name of charts is set aside only if
/// `has_charts` finds a Helm chart in it.
pub fn is_set_aside_beside(path: &str, is_reached: impl Fn(&str) -> bool, has_charts: impl Fn(&str) -> bool) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut next = 0;
    let mut folders = ends.filter_map(|end| {
        let start = std::mem::replace(&mut next, end + 1);
        Some((path.get(..end)?, path.get(start..end)?))
    });
    folders.any(|(directory, name)| {
        let has_one_of = |list: &[&str]| has_word(name, list);
        name.starts_with('.')
            || (has_one_of(BUILDING_BLOCKS) && has_charts(directory))
            || has_one_of(TEMPLATES)
            || ((has_one_of(ASIDE) || has_one_of(FORMER)) && !is_reached(directory))
    })
}

/// Returns whether a path contains a directory with former versions of a repository, according to its name.
pub fn is_former(path: &str) -> bool {
    path.split('/').any(|name| has_word(name, FORMER) || has_word(name, OLD))
}

/// Returns whether a path contains a directory that users copy for each new cluster, according to its name.
pub fn is_template(path: &str) -> bool {
    path.split('/').any(|name| has_word(name, TEMPLATES))
}

/// Returns whether a path contains a directory with examples, tests or templates, according to its name.
pub fn is_example(path: &str) -> bool {
    const EXAMPLES: &[&str] = &["e2e", "example", "examples", "sample", "samples", "test", "tests"];
    is_template(path) || path.split('/').any(|name| has_word(name, EXAMPLES))
}

/// Returns whether a path contains a directory with examples, tests, templates, charts or documentation, according to its
/// name, so that users replace the values in the file.
pub fn is_for_readers(path: &str) -> bool {
    const DOCUMENTATION: &[&str] = &["doc", "docs", "fixture", "fixtures", "testdata", "testing"];
    let has_one_of = |name: &str| has_word(name, DOCUMENTATION) || has_word(name, BUILDING_BLOCKS);
    is_example(path) || path.split('/').any(has_one_of)
}

/// Returns whether a file is in a directory with the inputs of a program's tests.
pub fn is_test_data(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|name| has_word(name, &["fixture", "fixtures", "testdata"]))
}

fn has_word(name: &str, list: &[&str]) -> bool {
    let mut words = name.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    words.any(|word| list.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::is_set_aside;

    #[test]
    fn names_tell_what_is_not_applied() {
        let aside = |path: &str| is_set_aside(path, |_| false);
        assert!(aside("tests/apps.yaml") && aside("apps/my-examples/a.yaml") && aside("apps/.hidden/a.yaml"));
        assert!(aside("kubernetes.orig/apps/a.yaml") && aside("research/inactive/a.yaml"));
        assert!(!aside("apps/latest/a.yaml") && !aside("clusters/production/a.yaml") && !aside("apps/origin/a.yaml"));
    }

    #[test]
    fn a_directory_that_a_cluster_reaches_is_applied() {
        assert!(!is_set_aside("clusters/test/apps.yaml", |directory| directory == "clusters/test"));
        assert!(is_set_aside("templates/apps.yaml", |_| true));
    }
}
