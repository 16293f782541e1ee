//! The objects of a build, what they were called, and the indices that find them.

use std::sync::Arc;

use super::trace::{PluginRef, Source, Trace};
use crate::kustomize::schema::user_schema::UserSchema;
use crate::kustomize::text::scope::is_cluster_scoped;
use crate::text::Index;
use crate::yaml::{Entry, Name, Node, Style, Value};

/// The namespace of objects that have none; regular expressions of targets can match it.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";
/// The namespace of objects that say none.
const DEFAULT_NAMESPACE: &str = "default";

/// Where kustomize notes what an object was called.
const HISTORY_ANNOTATION: &str = "internal.config.kubernetes.io/previousNames";

/// What tells two objects apart for kustomize. A namespace that is not said is `default`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ResourceId {
    pub(crate) group: Name,
    pub(crate) version: Name,
    pub(crate) kind: Name,
    pub(crate) namespace: Name,
    pub(crate) name: Name,
}

impl ResourceId {
    pub(crate) fn from_node(node: &Node) -> Self {
        Self::with_schema(node, None)
    }

    /// The identity where a user's schema says more of which kinds have a namespace.
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

/// What an object was called once. Group and version follow the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreviousId {
    pub(crate) kind: Name,
    pub(crate) namespace: Name,
    pub(crate) name: Name,
}

/// What a generator's entry wants to do with an object of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// There must be none.
    Create,
    /// It takes its place.
    Replace,
    /// Its data is added.
    Merge,
}

/// What kustomize notes on an object while it builds. It does so in annotations, so what takes all annotations of an
/// object away takes its history too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// What it was called before, the first name first. Patches and references may name it by any of them.
    pub(crate) previous: Vec<PreviousId>,
    /// The prefixes it got, the innermost first.
    pub(crate) prefixes: Vec<Name>,
    /// The suffixes it got, the innermost first.
    pub(crate) suffixes: Vec<Name>,
    /// Whether a hash of its content goes to the end of its name.
    pub(crate) hashed: bool,
    /// What its generator said; `None` when no generator made it.
    pub(crate) behavior: Option<Behavior>,
    /// Where it came from and what was done to it, where that is asked for.
    pub(crate) trace: Trace,
}

/// An object on its way through a build.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) node: Node,
    /// What it is called now.
    pub(crate) id: ResourceId,
    pub(crate) history: History,
    /// The variables that are read from it.
    pub(crate) variables: Vec<Name>,
    /// The user's schema where it came in.
    schema: Option<Arc<UserSchema>>,
}

impl Resource {
    pub(crate) fn new(node: Node) -> Self {
        let id = ResourceId::from_node(&node);
        Self { node, id, history: History::default(), variables: Vec::new(), schema: None }
    }

    /// Notes the file that the object was read from.
    pub(crate) fn set_source_file(&mut self, path: &str) {
        self.history.trace.source = Some(Source::File(path.into()));
    }

    /// Notes the generator that made the object.
    pub(crate) fn set_generator(&mut self, plugin_ref: Arc<PluginRef>) {
        self.history.trace.source = Some(Source::Generated(plugin_ref));
    }

    /// Takes the user's schema, which may say that its kind has no namespace.
    pub(crate) fn set_schema(&mut self, schema: &Arc<UserSchema>) {
        if self.schema.is_none() {
            self.id = ResourceId::with_schema(&self.node, Some(schema));
            self.schema = Some(schema.clone());
        }
    }

    /// Whether a patch deleted it: it is swept out when the transformer is done.
    pub(crate) fn is_deleted(&self) -> bool {
        self.node.is_null()
    }

    /// Everything it was called before, the first first.
    pub(crate) fn previous_ids(&self) -> impl Iterator<Item = ResourceId> {
        self.history.previous.iter().map(|previous| ResourceId {
            group: self.id.group.clone(),
            version: self.id.version.clone(),
            kind: previous.kind.clone(),
            namespace: previous.namespace.clone(),
            name: previous.name.clone(),
        })
    }

    /// What it was called in its file.
    pub(crate) fn original(&self) -> ResourceId {
        self.previous_ids().next().unwrap_or_else(|| self.id.clone())
    }

    /// Remembers today's name, as kustomize does before it changes it.
    pub(crate) fn store_previous_id(&mut self) {
        let id = &self.id;
        let now = PreviousId { kind: id.kind.clone(), namespace: id.namespace.clone(), name: id.name.clone() };
        if self.history.previous.last() != Some(&now) {
            self.history.previous.push(now);
        }
    }

    /// The object as a patch sees it: with an annotation where its history is noted, though it may have no other.
    pub(crate) fn with_history_annotation(&self) -> Node {
        if self.history == History::default() {
            return self.node.clone();
        }
        let Some(metadata) = self.node.entry("metadata") else { return self.node.clone() };
        let annotations = metadata.node.entry("annotations").filter(|entry| entry.node.is_map());
        let place = metadata.key_span();
        let empty = || Node::at(Value::Map([].into()), place.clone());
        let map = annotations.map_or_else(empty, |entry| entry.node.clone());
        let annotation = Node::scalar("", Style::Double, map.span().clone());
        let map = map.with(Entry::new(HISTORY_ANNOTATION, annotation.span(), annotation.clone()));
        let entry = annotations
            .map_or_else(|| Entry::new("annotations", &place, map.clone()), |old| old.with_node(map.clone()));
        self.node.with(metadata.with_node(metadata.node.with(entry)))
    }

    /// Takes what a patch made of the exposed object, and tells whether the note of its history is still there.
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

    /// Takes a new state of the object.
    pub(crate) fn replace(&mut self, node: Node) {
        self.id = ResourceId::with_schema(&node, self.schema.as_deref());
        self.node = node;
    }
}

/// The objects of a build in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resources {
    pub(crate) list: Vec<Resource>,
    /// Which of the list has an id; right only after [`Resources::reindex`] and until a transformer runs.
    current: Index<ResourceId, usize>,
}

impl Resources {
    /// The position of the object that has an id already; otherwise the id is now that of `position`.
    pub(crate) fn claim(&mut self, id: &ResourceId, position: usize) -> Option<usize> {
        if let Some(first) = self.current.get(id) {
            return Some(*first);
        }
        self.current.insert(id.clone(), position);
        None
    }

    /// Takes out the objects that patches deleted.
    pub(crate) fn remove_deleted(&mut self) {
        self.list.retain(|resource| !resource.is_deleted());
    }

    /// Looks the ids up again after transformers changed them.
    pub(crate) fn reindex(&mut self) {
        let ids = self.list.iter().enumerate().map(|(position, resource)| (resource.id.clone(), position));
        self.current = ids.collect();
    }

    /// The positions of objects by their names, past and present. Made once for all patches of a kustomization.
    pub(crate) fn index(&self) -> ResourceIndex {
        let mut positions = ResourceIndex::default();
        for (position, resource) in self.list.iter().enumerate() {
            positions.add(position, resource);
        }
        positions
    }
}

/// Where objects stand in the list, by id and by name.
#[derive(Default)]
pub(crate) struct ResourceIndex {
    by_id: Index<ResourceId, Vec<usize>>,
    by_name: Index<Arc<str>, Vec<usize>>,
}

impl ResourceIndex {
    /// Adds an object under every name it has or had.
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

    /// The objects that have or had an id.
    pub(crate) fn with_id(&self, id: &ResourceId) -> &[usize] {
        self.by_id.get(id).map_or(&[], Vec::as_slice)
    }

    /// The objects that have or had a name.
    pub(crate) fn with_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}
