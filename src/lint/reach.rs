//! What the roots of a repository reach.

use std::sync::Arc;

use crate::flux::Repo;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Value;

/// The place that an object was first written at: building and patching do not move it.
pub(super) type Place<'a> = (Option<&'a str>, &'a str, usize);

/// The place of an object.
pub(super) fn place_of(object: &Object) -> Place<'_> {
    let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
    (span.file().root().map(|root| &**root), span.file().path(), span.range().start)
}

/// What tells shared objects apart while all of them are kept: their place in memory.
pub(super) fn address(object: &Object) -> usize {
    match &object.node.value {
        Value::Map(entries) => entries.as_ptr().addr(),
        Value::Seq(_) | Value::Scalar(..) => 0,
    }
}

/// The objects of lists, each list and each object once however many clusters share it.
pub(super) fn distinct<'a>(lists: impl Iterator<Item = &'a Arc<[Object]>>) -> Vec<&'a Object> {
    let mut seen_lists: Index<usize, ()> = Index::default();
    let mut seen: Index<usize, ()> = Index::default();
    let lists = lists.filter(|list| seen_lists.insert(list.as_ptr().addr(), ()).is_none());
    lists.flat_map(|list| list.iter()).filter(|object| seen.insert(address(object), ()).is_none()).collect()
}

/// Counts the objects that no cluster receives, in a repository that says what its clusters receive.
pub(super) fn unreached(repo: &Repo) -> usize {
    if repo.clusters.iter().all(|cluster| cluster.name.is_empty()) {
        return 0;
    }
    let brought = repo.clusters.iter().flat_map(|cluster| &cluster.brought);
    let received = distinct(brought.map(|brought| &brought.objects));
    // What is there by hand is reached, though something else may have taken its place since.
    let appliers = repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
    let appliers = appliers.filter_map(|applier| applier.object.as_ref());
    let reached: Index<Place<'_>, ()> =
        received.into_iter().chain(appliers).map(|object| (place_of(object), ())).collect();
    let places = repo.objects.iter().map(|built| place_of(&built.object));
    let missed: Index<Place<'_>, ()> =
        places.filter(|place| !reached.contains(place)).map(|place| (place, ())).collect();
    missed.len()
}
