//! The objects that a render removes from clusters.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Change;
use crate::base::finding::ObjectRef;
use crate::kube::{Object, groups};
use crate::text::{File, Tree, folder_of, is_inside, join};
use crate::yaml::{Node, parse};

/// The objects that a render removes from a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The directory.
    pub folder: String,
    /// The objects, sorted, with the namespace from the directory's kustomization.yaml.
    pub objects: Vec<ObjectRef>,
    /// Whether the whole directory of a cluster goes. Flux on that cluster then reports that its path is missing, and
    /// deletes nothing. Otherwise Flux deletes the objects if pruning is enabled.
    pub is_of_removed_cluster: bool,
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
    let clusters = removed_clusters(changes.clone(), before, after);
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
    let removed = |(folder, mut objects): (String, Vec<ObjectRef>)| {
        objects.sort();
        let is_of_removed_cluster = clusters.iter().any(|cluster| is_inside(&folder, cluster));
        Removed { folder, objects, is_of_removed_cluster }
    };
    folders.into_iter().map(removed).collect()
}

/// The synced directories of clusters whose files are all removed, with the object that syncs the directory.
fn removed_clusters<'a>(
    changes: impl Iterator<Item = &'a Change> + Clone,
    before: &Tree,
    after: &Tree,
) -> BTreeSet<String> {
    let gone: BTreeMap<&str, &File> =
        changes.filter(|one| one.new.is_none()).filter_map(|one| Some((&*one.path, one.old.as_ref()?))).collect();
    let synced = gone.values().flat_map(|file| synced_paths(file)).filter_map(|path| join("", &path));
    let is_gone = |folder: &String| {
        !folder.is_empty() && !after.has_folder(folder) && before.under(folder).all(|path| gone.contains_key(path))
    };
    synced.filter(is_gone).collect()
}

/// The paths that the FluxInstances of a file sync, and those that its Kustomizations sync if `flux bootstrap` writes the
/// file.
fn synced_paths(file: &File) -> Vec<String> {
    let is_sync = file.path().rsplit('/').next() == Some(groups::SYNC_FILE);
    let path = |object: &Object| match (object.group(), object.kind()) {
        (groups::FLUX_OPERATOR, "FluxInstance") => object.text_at(&["spec", "sync", "path"]).map(str::to_owned),
        (groups::KUSTOMIZE, "Kustomization") if is_sync => object.text_at(&["spec", "path"]).map(str::to_owned),
        _ => None,
    };
    let objects = parse(file).documents.into_iter().filter_map(|document| Object::new(document.node));
    objects.filter_map(|object| path(&object)).collect()
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
