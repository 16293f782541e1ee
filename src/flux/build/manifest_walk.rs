//! The manifests of a directory without a kustomization file, in the order in which Flux lists them.

use std::collections::BTreeMap;

use crate::kustomize::FILE_NAMES;
use crate::text::Tree;

/// The files and directories in a directory, by name. Flux sorts the names of each directory separately.
#[derive(Default)]
struct Folder<'a> {
    files: BTreeMap<&'a str, Option<Self>>,
}

/// The paths, relative to `folder`, that Flux lists as resources: YAML files, and subdirectories with a kustomization
/// file. The walk does not enter these subdirectories.
pub(super) fn manifests(tree: &Tree, folder: &str) -> Vec<String> {
    let prefix = if folder.is_empty() { 0 } else { folder.len() + 1 };
    let mut root = Folder::default();
    for path in tree.under(folder) {
        let Some(relative) = path.get(prefix..) else { continue };
        let mut at = &mut root;
        let mut segments = relative.split('/').peekable();
        while let Some(segment) = segments.next() {
            let slot = at.files.entry(segment).or_insert(None);
            if segments.peek().is_none() {
                break;
            }
            at = slot.get_or_insert_default();
        }
    }
    let mut paths = Vec::new();
    collect(&root, "", &mut paths);
    paths
}

fn collect(folder: &Folder<'_>, path: &str, paths: &mut Vec<String>) {
    for (name, inner) in &folder.files {
        let path = crate::flux::object::kustomization_path::below(path, name);
        match inner {
            Some(inner) if FILE_NAMES.iter().any(|name| matches!(inner.files.get(name), Some(None))) => {
                paths.push(path);
            }
            Some(inner) => collect(inner, &path, paths),
            None => {
                let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
                if matches!(extension, "yaml" | "yml") {
                    paths.push(path);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::File;

    #[test]
    fn names_are_sorted_by_directory_and_kustomizations_are_not_entered() {
        let files =
            ["f/a-b/x.yaml", "f/a/y.yml", "f/a.yaml", "f/k/kustomization.yml", "f/k/z.yaml", "f/t.txt", "g.yaml"];
        let tree: Tree = files.map(|path| File::new(path, "")).into_iter().collect();
        assert_eq!(manifests(&tree, "f"), ["a/y.yml", "a-b/x.yaml", "a.yaml", "k"]);
        assert_eq!(manifests(&tree, "f/k"), ["kustomization.yml", "z.yaml"]);
    }
}
