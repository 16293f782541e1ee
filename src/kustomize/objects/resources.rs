//! The objects of a build, their ids and former ids, and indices of them.

use std::sync::Arc;

use arcstr::ArcStr;

use super::trace::{PluginRef, Source, Trace};
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::text::scope::is_cluster_scoped;
use crate::text::Index;
use crate::yaml::{Entry, Name, Node, Style, Value};

/// The namespace of cluster-scoped objects; regular expressions of selectors can match it.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";
/// The namespace of objects without `metadata.namespace`.
const DEFAULT_NAMESPACE: &str = "default";

/// The annotation in which kustomize stores former names.
const HISTORY_ANNOTATION: &str = "internal.config.kubernetes.io/previousNames";

/// The id of an object in a build, as kustomize's `ResId`. A missing namespace is `default`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ResourceId {
    pub(crate) group: Name,
    pub(crate) version: Name,
    pub(crate) kind: Name,
    pub(crate) namespace: Name,
    pub(crate) name: Name,
}

impl ResourceId {
    /// The id of an object, with the built-in schema only.
    pub(crate) fn from_node(node: &Node) -> Self {
        Self::with_schema(node, None)
    }

    /// The id of an object; a user's schema may declare more cluster-scoped kinds.
    pub(crate) fn with_schema(node: &Node, schema: Option<&UserSchema>) -> Self {
        let shared = |node: Option<&Node>| node.and_then(Node::shared_text).unwrap_or_else(|| Name::from(""));
        let metadata = node.get("metadata");
        let field = |key: &str| shared(metadata.and_then(|metadata| metadata.get(key)));
        let api_version = shared(node.get("apiVersion"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let kind = shared(node.get("kind"));
        let namespace = match field("namespace") {
            _ if is_cluster_scoped(group, version, &kind) => NO_NAMESPACE.into(),
            _ if schema.is_some_and(|schema| schema.is_cluster_scoped(&api_version, &kind)) => NO_NAMESPACE.into(),
            empty if empty.is_empty() => DEFAULT_NAMESPACE.into(),
            namespace => namespace,
        };
        Self { group: group.into(), version: version.into(), kind, namespace, name: field("name") }
    }
}

/// A former id of an object. The group and version are the group and version of the current id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreviousId {
    pub(crate) kind: Name,
    pub(crate) namespace: Name,
    pub(crate) name: Name,
}

/// The behavior of a generator if an object with the same id exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// The object must not exist.
    Create,
    /// The generated object replaces the existing object.
    Replace,
    /// The data of the generated object is merged into the existing object.
    Merge,
}

/// The history of an object in a build.
///
/// kustomize stores the history in annotations, so a patch that deletes all annotations also deletes the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The former ids, oldest first. Patches and references may use any of them.
    pub(crate) previous: Vec<PreviousId>,
    /// The added prefixes, innermost first.
    pub(crate) prefixes: Vec<Name>,
    /// The added suffixes, innermost first.
    pub(crate) suffixes: Vec<Name>,
    /// Whether kustomize adds a hash suffix to the name.
    pub(crate) hashed: bool,
    /// The behavior of the object's generator; `None` if no generator created the object.
    pub(crate) behavior: Option<Behavior>,
    /// The origin and the transformations of the object, if they are recorded.
    pub(crate) trace: Trace,
}

/// An object in a build.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) node: Node,
    /// The current id.
    pub(crate) id: ResourceId,
    pub(crate) history: History,
    /// The variables with a value from this object.
    pub(crate) variables: Vec<Name>,
    /// Whether the object may lack the changes of a patch, component or transformer that failed.
    pub(crate) lacks_changes: bool,
    /// The user's schema at the time when the object was added.
    schema: Option<Arc<UserSchema>>,
}

impl Resource {
    /// Creates a resource without a history.
    pub(crate) fn new(node: Node) -> Self {
        let id = ResourceId::from_node(&node);
        Self { node, id, history: History::default(), variables: Vec::new(), lacks_changes: false, schema: None }
    }

    /// Records the file of the object.
    pub(crate) fn set_source_file(&mut self, path: &str) {
        self.history.trace.source = Some(Source::File(path.into()));
    }

    /// Records the generator of the object.
    pub(crate) fn set_generator(&mut self, plugin_ref: Arc<PluginRef>) {
        self.history.trace.source = Some(Source::Generated(plugin_ref));
    }

    /// Sets the user's schema, which may declare the kind of the object cluster-scoped.
    pub(crate) fn set_schema(&mut self, schema: &Arc<UserSchema>) {
        if self.schema.is_none() {
            self.id = ResourceId::with_schema(&self.node, Some(schema));
            self.schema = Some(schema.clone());
        }
    }

    /// Returns whether a patch deleted the object. [`Resources::remove_deleted`] removes it later.
    pub(crate) fn is_deleted(&self) -> bool {
        self.node.is_null()
    }

    /// The former ids, oldest first.
    pub(crate) fn previous_ids(&self) -> impl Iterator<Item = ResourceId> {
        self.history.previous.iter().map(|previous| ResourceId {
            group: self.id.group.clone(),
            version: self.id.version.clone(),
            kind: previous.kind.clone(),
            namespace: previous.namespace.clone(),
            name: previous.name.clone(),
        })
    }

    /// The id of the object in its file.
    pub(crate) fn original(&self) -> ResourceId {
        self.previous_ids().next().unwrap_or_else(|| self.id.clone())
    }

    /// Stores the current id in the history, as kustomize does before it changes the id.
    pub(crate) fn store_previous_id(&mut self) {
        let id = &self.id;
        let current = PreviousId { kind: id.kind.clone(), namespace: id.namespace.clone(), name: id.name.clone() };
        if self.history.previous.last() != Some(&current) {
            self.history.previous.push(current);
        }
    }

    /// The object as the input of a patch: with an annotation for its history.
    pub(crate) fn with_history_annotation(&self) -> Node {
        if self.history == History::default() {
            return self.node.clone();
        }
        let Some(metadata) = self.node.entry("metadata") else { return self.node.clone() };
        let annotations = metadata.node.entry("annotations").filter(|entry| entry.node.is_map());
        let span = metadata.key_span();
        let empty = || Node::at(Value::Map([].into()), span.clone());
        let map = annotations.map_or_else(empty, |entry| entry.node.clone());
        let annotation = Node::scalar("", Style::Double, map.span().clone());
        let map = map.with(Entry::new(HISTORY_ANNOTATION, annotation.span(), annotation.clone()));
        let entry =
            annotations.map_or_else(|| Entry::new("annotations", &span, map.clone()), |old| old.with_node(map.clone()));
        self.node.with(metadata.with_node(metadata.node.with(entry)))
    }

    /// Sets the patched object, and returns whether it still has the history annotation.
    pub(crate) fn set_patched(&mut self, node: &Node) -> bool {
        let metadata = node.entry("metadata");
        let annotations = metadata.and_then(|metadata| metadata.node.entry("annotations"));
        let (Some(metadata), Some(annotations)) = (metadata, annotations) else {
            self.replace(node.clone());
            return false;
        };
        if annotations.node.get(HISTORY_ANNOTATION).is_none() {
            self.replace(node.clone());
            return false;
        }
        let rest = annotations.node.without(HISTORY_ANNOTATION);
        let changed = if rest.entries().is_empty() {
            metadata.node.without("annotations")
        } else {
            metadata.node.with(annotations.with_node(rest))
        };
        self.replace(node.with(metadata.with_node(changed)));
        true
    }

    /// Sets the object, and updates the id.
    pub(crate) fn replace(&mut self, node: Node) {
        self.id = ResourceId::with_schema(&node, self.schema.as_deref());
        self.node = node;
    }
}

/// The objects of a build in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resources {
    pub(crate) list: Vec<Resource>,
    /// The index of an id; valid after [`Resources::reindex`] until the next transformer.
    current: Index<ResourceId, usize>,
}

impl Resources {
    /// Marks all objects, since a step that may change them failed.
    pub(crate) fn miss_changes(&mut self) {
        self.list.iter_mut().for_each(|resource| resource.lacks_changes = true);
    }

    /// The position of the object with an id; if there is none, registers the id for `position`.
    pub(crate) fn claim(&mut self, id: &ResourceId, position: usize) -> Option<usize> {
        if let Some(first) = self.current.get(id) {
            return Some(*first);
        }
        self.current.insert(id.clone(), position);
        None
    }

    /// Removes the objects that patches deleted.
    pub(crate) fn remove_deleted(&mut self) {
        self.list.retain(|resource| !resource.is_deleted());
    }

    /// Updates the index after transformers changed ids.
    pub(crate) fn reindex(&mut self) {
        let ids = self.list.iter().enumerate().map(|(position, resource)| (resource.id.clone(), position));
        self.current = ids.collect();
    }

    /// Creates an index by current and former ids, once for all patches of a kustomization.
    pub(crate) fn index(&self) -> ResourceIndex {
        let mut positions = ResourceIndex::default();
        for (position, resource) in self.list.iter().enumerate() {
            positions.add(position, resource);
        }
        positions
    }
}

/// An index of objects by id and by name.
#[derive(Default)]
pub(crate) struct ResourceIndex {
    by_id: Index<ResourceId, Vec<usize>>,
    by_name: Index<ArcStr, Vec<usize>>,
}

impl ResourceIndex {
    /// Adds an object with its current and former ids.
    pub(crate) fn add(&mut self, position: usize, resource: &Resource) {
        for id in resource.previous_ids().chain([resource.id.clone()]) {
            let by_name = self.by_name.entry(id.name.clone());
            for positions in [by_name, self.by_id.entry(id)] {
                if let Err(index) = positions.binary_search(&position) {
                    positions.insert(index, position);
                }
            }
        }
    }

    /// The objects with a current or former id.
    pub(crate) fn with_id(&self, id: &ResourceId) -> &[usize] {
        self.by_id.get(id).map_or(&[], Vec::as_slice)
    }

    /// The objects with a current or former name.
    pub(crate) fn with_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
