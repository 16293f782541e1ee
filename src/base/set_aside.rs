//! Directories whose names show that their contents are not applied.

/// Words in the names of directories that are not applied, unless a cluster reaches them: a cluster may be named `test`.
const ASIDE: &[&str] = &[
    "archive",
    "archived",
    "archives",
    "attic",
    "deprecated",
    "disabled",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "sample",
    "samples",
    "test",
    "testdata",
    "tests",
    "unused",
];

/// Words in the names of directories that are copied for each new cluster.
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

/// Words in the names of directories with building blocks, which others render.
const BUILDING_BLOCKS: &[&str] = &["chart", "charts"];

/// Returns whether the name of a file, or of a directory above it, shows that it is not applied.
///
/// `is_reached` tells whether a cluster applies something from a directory.
pub fn is_set_aside(path: &str, is_reached: impl Fn(&str) -> bool) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).any(|directory| {
        let name = directory.rsplit('/').next().unwrap_or(directory);
        let has_one_of = |list: &[&str]| has_word(name, list);
        name.starts_with('.')
            || has_one_of(BUILDING_BLOCKS)
            || has_one_of(TEMPLATES)
            || (has_one_of(ASIDE) && !is_reached(directory))
    })
}

/// Returns whether the name of a directory in a path shows that it is copied for each new cluster.
pub fn is_template(path: &str) -> bool {
    path.split('/').any(|name| has_word(name, TEMPLATES))
}

/// Returns whether a file is in a directory with the inputs of a program's tests.
pub fn is_test_data(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|name| has_word(name, &["fixture", "fixtures", "testdata"]))
}

fn has_word(name: &str, list: &[&str]) -> bool {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    words.into_iter().any(|word| list.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_set_aside;

    #[test]
    fn names_tell_what_is_not_applied() {
        let aside = |path: &str| is_set_aside(path, |_| false);
        assert!(aside("tests/apps.yaml") && aside("apps/my-examples/a.yaml") && aside("apps/.hidden/a.yaml"));
        assert!(!aside("apps/latest/a.yaml") && !aside("clusters/production/a.yaml"));
    }

    #[test]
    fn a_directory_that_a_cluster_reaches_is_applied() {
        assert!(!is_set_aside("clusters/test/apps.yaml", |directory| directory == "clusters/test"));
        assert!(is_set_aside("templates/apps.yaml", |_| true));
    }
}
