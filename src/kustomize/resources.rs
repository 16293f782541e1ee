//! The objects of a build and the index that finds them.

use std::sync::Arc;

use super::scope::is_cluster_scoped;
use crate::kube::Object;
use crate::text::Index;
use crate::yaml::Node;

/// What tells two objects apart for kustomize. A namespace that is not said is `default`; objects without namespace
/// have `_non_namespaceable_`, which regular expressions of targets can match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) group: Arc<str>,
    pub(super) version: Arc<str>,
    pub(super) kind: Arc<str>,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
}

impl Id {
    pub(super) fn of(node: &Node) -> Self {
        let object = Object { node: node.clone() };
        let api_version = object.api_version();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let namespace = match object.namespace() {
            _ if is_cluster_scoped(group, version, object.kind()) => "_non_namespaceable_",
            Some(namespace) => namespace,
            None => "default",
        };
        Self {
            group: group.into(),
            version: version.into(),
            kind: object.kind().into(),
            namespace: namespace.into(),
            name: object.name().into(),
        }
    }
}

/// An object on its way through a build.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) node: Node,
    /// What it is called now.
    pub(super) id: Id,
    /// What it was called before, the first name first. Patches may name it by any of them.
    pub(super) previous: Vec<Id>,
}

impl Resource {
    pub(super) fn new(node: Node) -> Self {
        let id = Id::of(&node);
        Self { node, id, previous: Vec::new() }
    }

    /// What it was called in its file.
    pub(super) fn original(&self) -> &Id {
        self.previous.first().unwrap_or(&self.id)
    }

    /// Remembers today's name, as kustomize does before it changes an object.
    pub(super) fn remember(&mut self) {
        if self.previous.last() != Some(&self.id) {
            self.previous.push(self.id.clone());
        }
    }

    /// Takes a new state of the object.
    pub(super) fn replace(&mut self, node: Node) {
        self.id = Id::of(&node);
        self.node = node;
    }
}

/// The objects of a build in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Resources {
    pub(super) list: Vec<Resource>,
    /// Which of the list has an id; right only after [`Resources::reindex`] and until a transformer runs.
    current: Index<Id, usize>,
}

impl Resources {
    /// The position of the object that has an id already; otherwise the id is now that of `position`.
    pub(super) fn claim(&mut self, id: &Id, position: usize) -> Option<usize> {
        if let Some(first) = self.current.get(id) {
            return Some(*first);
        }
        self.current.insert(id.clone(), position);
        None
    }

    /// Takes out the objects that patches deleted.
    pub(super) fn sweep(&mut self) {
        self.list.retain(|resource| !resource.node.is_null());
    }

    /// Looks the ids up again after transformers changed them.
    pub(super) fn reindex(&mut self) {
        let ids = self.list.iter().enumerate().map(|(position, resource)| (resource.id.clone(), position));
        self.current = ids.collect();
    }

    /// The positions of objects by their names, past and present. Made once for all patches of a kustomization.
    pub(super) fn index(&self) -> Positions {
        let mut positions = Positions::default();
        for (position, resource) in self.list.iter().enumerate() {
            positions.add(position, resource);
        }
        positions
    }
}

/// Where objects stand in the list, by id and by name.
#[derive(Default)]
pub(super) struct Positions {
    by_id: Index<Id, Vec<usize>>,
    by_name: Index<Arc<str>, Vec<usize>>,
}

impl Positions {
    /// Adds an object under every name it has or had.
    pub(super) fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.previous.iter().chain([&resource.id]) {
            for positions in [self.by_id.entry(id.clone()), self.by_name.entry(id.name.clone())] {
                if let Err(at) = positions.binary_search(&position) {
                    positions.insert(at, position);
                }
            }
        }
    }

    pub(super) fn with_id(&self, id: &Id) -> &[usize] {
        self.by_id.get(id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn with_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
