//! What the roots of a repository reach.

use std::sync::Arc;

use crate::flux::Repo;
use crate::kube::Object;
use crate::text::Index;

/// The place that an object was first written at: building and patching do not move it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    root: Option<Arc<str>>,
    path: String,
    offset: usize,
}

impl Place {
    pub(super) fn of(object: &Object) -> Self {
        let span = object.node.get("kind").unwrap_or(&object.node).origin.written();
        Self { root: span.file().root().cloned(), path: span.file().path().to_owned(), offset: span.range().start }
    }
}

/// Counts the objects that no cluster receives, in a repository that says what its clusters receive.
pub(super) fn unreached(repo: &Repo) -> usize {
    if repo.clusters.iter().all(|cluster| cluster.name.is_empty()) {
        return 0;
    }
    let received = repo.clusters.iter().flat_map(|cluster| &cluster.objects).map(|applied| &applied.object);
    // What is there by hand is reached, though something else may have taken its place since.
    let appliers = repo.clusters.iter().flat_map(|cluster| &cluster.appliers);
    let appliers = appliers.filter_map(|applier| applier.object.as_ref());
    let reached: Index<Place, ()> = received.chain(appliers).map(|object| (Place::of(object), ())).collect();
    let places = repo.objects.iter().map(|built| Place::of(&built.object));
    let missed: Index<Place, ()> = places.filter(|place| !reached.contains(place)).map(|place| (place, ())).collect();
    missed.len()
}
