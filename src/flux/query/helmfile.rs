//! The releases that a helmfile installs, usually before Flux starts.

use std::collections::BTreeSet;

use crate::text::Tree;

/// The names of releases and charts in the helmfiles of a tree. A helmfile is often a template, so it is read by line.
pub(in crate::flux) fn names_in_helmfiles(tree: &Tree) -> BTreeSet<String> {
    let is_helmfile = |path: &str| path.split('/').any(|segment| segment.starts_with("helmfile"));
    let paths = tree.entries().map(|(path, _)| path).filter(|path| is_helmfile(path));
    let mut names = BTreeSet::new();
    for file in paths.filter_map(|path| tree.file(path).ok()) {
        for line in file.text().lines() {
            let line = line.trim_start().trim_start_matches("- ");
            let value = ["name:", "chart:"].into_iter().find_map(|key| line.strip_prefix(key)).map(str::trim);
            if let Some(value) = value {
                let value = value.trim_matches(['"', '\'']);
                names.insert(value.rsplit('/').next().unwrap_or(value).to_owned());
            }
        }
    }
    names
}
