//! What the roots of a repository reach.

use std::sync::Arc;

use crate::flux::Repo;
use crate::kube::Object;
use crate::text::{Index, Span};

/// The place that an object was first written at: building and patching do not move it.
pub(super) fn place(object: &Object) -> &Span {
    object.node.get("kind").unwrap_or(&object.node).origin.written()
}

/// Counts the objects that no cluster receives, in a repository that says what its clusters receive.
pub(super) fn unreached(repo: &Repo) -> usize {
    type Place = (Option<Arc<str>>, String, usize);
    if repo.clusters.iter().all(|cluster| cluster.name.is_empty()) {
        return 0;
    }
    let key = |object: &Object| -> Place {
        let span = place(object);
        (span.file().root().cloned(), span.file().path().to_owned(), span.range().start)
    };
    let received = repo.clusters.iter().flat_map(|cluster| &cluster.objects).map(|applied| key(&applied.object));
    let mut reached: Index<Place, ()> = received.map(|key| (key, ())).collect();
    // What is there by hand is reached, though something else may have taken its place since.
    let appliers = repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
    for object in appliers.filter_map(|applier| applier.object.as_ref()) {
        reached.insert(key(object), ());
    }
    let mut missed: Index<Place, ()> = Index::default();
    for built in &repo.objects {
        let key = key(&built.object);
        if !reached.contains(&key) {
            missed.insert(key, ());
        }
    }
    missed.len()
}
