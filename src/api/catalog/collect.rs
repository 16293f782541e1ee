//! The definitions in a directory of files.

use crate::kube::Object;
use crate::text::Tree;
use crate::yaml::parse;

/// The `CustomResourceDefinition` objects in the YAML files of a tree, in the order of their paths.
pub fn definitions_in(tree: &Tree) -> Vec<Object> {
    let paths = tree.under("").filter(|path| path.ends_with(".yaml") || path.ends_with(".yml"));
    let files = paths.filter_map(|path| tree.file(path).ok());
    let files = files.filter(|file| file.text().contains("CustomResourceDefinition"));
    let documents = files.flat_map(|file| parse(&file).documents);
    let objects = documents.filter_map(|document| Object::new(document.node));
    objects.filter(|object| object.is("apiextensions.k8s.io", "CustomResourceDefinition")).collect()
}
