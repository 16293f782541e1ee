//! The copies of a text in a repository. The directories of clusters often have copies of one file.

use crate::kustomize::is_yaml;
use crate::text::{File, Index, Tree};

/// The YAML files of a tree with each text, in the order of their first files. No list is empty.
pub(super) fn copies(tree: &Tree) -> Vec<Vec<&File>> {
    let mut known: Index<&str, usize> = Index::default();
    let mut copies: Vec<Vec<&File>> = Vec::new();
    for file in tree.files().filter(|file| is_yaml(file.path())) {
        let at = *known.entry_or(file.text(), || copies.len());
        match copies.get_mut(at) {
            Some(files) => files.push(file),
            None => copies.push(vec![file]),
        }
    }
    copies
}
