//! The objects that a render removes from clusters.

use std::collections::BTreeMap;

use super::change::Change;
use crate::base::finding::ObjectRef;
use crate::kube::Object;
use crate::text::{File, Tree, folder_of};
use crate::yaml::{Node, parse};

/// The objects that a render removes from a directory. Flux deletes these objects if pruning is enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The directory.
    pub folder: String,
    /// The objects, sorted, with the namespace from the directory's kustomization.yaml.
    pub objects: Vec<ObjectRef>,
}

/// Returns the objects that the changes remove. An object that moved to another file is not removed.
pub(super) fn removed<'a>(
    changes: impl Iterator<Item = &'a Change> + Clone,
    before: &Tree,
    after: &Tree,
) -> Vec<Removed> {
    // The first render removes no objects, so parsing its files is not necessary.
    if changes.clone().all(|change| change.old.is_none()) {
        return Vec::new();
    }
    let mut old: BTreeMap<ObjectRef, Vec<String>> = BTreeMap::new();
    let mut new: BTreeMap<ObjectRef, Vec<String>> = BTreeMap::new();
    for change in changes {
        for (file, tree, places) in [(&change.old, before, &mut old), (&change.new, after, &mut new)] {
            for object in file.iter().flat_map(|file| objects(file, tree)) {
                places.entry(object).or_default().push(change.path.clone());
            }
        }
    }
    let mut folders: BTreeMap<String, Vec<ObjectRef>> = BTreeMap::new();
    for (object, mut gone) in old {
        let mut here = new.remove(&object).unwrap_or_default();
        // The same object may be in the files of many clusters. Pair equal paths first, then moved objects.
        gone.retain(|path| {
            let kept = here.iter().position(|other| other == path);
            kept.inspect(|at| drop(here.swap_remove(*at))).is_none()
        });
        for path in gone.iter().skip(here.len()) {
            folders.entry(folder_of(path).to_owned()).or_default().push(object.clone());
        }
    }
    let mut result: Vec<Removed> = folders.into_iter().map(|(folder, objects)| Removed { folder, objects }).collect();
    for removed in &mut result {
        removed.objects.sort();
    }
    result
}

fn objects(file: &File, tree: &Tree) -> Vec<ObjectRef> {
    let namespace = kustomization_namespace(file.path(), tree);
    let documents = parse(file).documents.into_iter();
    let objects = documents.filter_map(|document| Object::new(document.node));
    let applied = objects.filter(|object| object.group() != "kustomize.config.k8s.io");
    let placed = applied.map(|object| {
        let mut reference = object.reference();
        if let Some(namespace) = &namespace
            && !super::conflict::is_cluster_scoped(&reference.kind)
        {
            reference.namespace = Some(namespace.as_str().into());
        }
        reference
    });
    placed.collect()
}

fn kustomization_namespace(path: &str, tree: &Tree) -> Option<String> {
    let folder = folder_of(path);
    let beside = if folder.is_empty() { "kustomization.yaml".into() } else { format!("{folder}/kustomization.yaml") };
    let document = parse(&tree.file(&beside).ok()?).documents.into_iter().next()?;
    document.node.get("namespace").and_then(Node::text).map(str::to_owned)
}
