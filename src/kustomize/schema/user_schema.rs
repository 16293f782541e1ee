//! The schema of `openapi`: merge keys and scopes of custom kinds.

use std::collections::BTreeMap;

use crate::text::Index;
use crate::yaml::{Name, Node};

/// The maximum length of a chain of references.
pub(super) const MAX_REFERENCES: usize = 64;

/// An `OpenAPI` document, reduced to the facts that merges need.
#[derive(Debug)]
pub(crate) struct UserSchema {
    pub(super) definitions: Index<Name, Node>,
    /// The definitions of kinds, by `apiVersion` and `kind`.
    objects: BTreeMap<(String, String), Node>,
    /// Whether a kind is namespaced, by `apiVersion` and `kind`.
    namespaced: BTreeMap<(String, String), bool>,
    /// The merge keys of all types, which live as long as the schema.
    pub(super) keys: BTreeMap<String, Vec<Name>>,
    /// Whether the built-in schema also applies.
    pub(super) beside_built_in: bool,
}

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";
/// The extension with the merge key of a list.
pub(super) const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
/// The extension with several merge keys of a list.
pub(super) const LIST_KEYS: &str = "x-kubernetes-list-map-keys";

impl UserSchema {
    /// An empty schema beside the built-in schema.
    pub(crate) fn built_in_only() -> Self {
        Self {
            definitions: Index::default(),
            objects: BTreeMap::new(),
            namespaced: BTreeMap::new(),
            keys: BTreeMap::new(),
            beside_built_in: true,
        }
    }

    /// Reads an `OpenAPI` document.
    pub(crate) fn read(root: &Node, beside_built_in: bool) -> Self {
        let definitions = root.get("definitions").map_or(&[][..], Node::entries);
        let mut schema = Self {
            definitions: definitions.iter().map(|entry| (entry.key.clone(), entry.node.clone())).collect(),
            objects: BTreeMap::new(),
            namespaced: BTreeMap::new(),
            keys: BTreeMap::new(),
            beside_built_in,
        };
        for entry in definitions {
            for kind in entry.node.get(GROUP_VERSION_KIND).map_or(&[][..], Node::items).iter().filter_map(type_meta) {
                schema.objects.insert(kind, entry.node.clone());
            }
            collect_keys(&entry.node, &mut schema.keys);
        }
        for path in root.get("paths").map_or(&[][..], Node::entries) {
            let kind = path.node.at_keys(&["get", GROUP_VERSION_KIND]).and_then(type_meta);
            let Some(kind) = kind else { continue };
            let namespaced = path.key.contains("namespaces/{namespace}");
            let known = schema.namespaced.entry(kind).or_insert(namespaced);
            *known |= namespaced;
        }
        schema
    }

    /// The definition of a kind.
    pub(crate) fn object(&self, api_version: &str, kind: &str) -> Option<&Node> {
        self.objects.get(&(api_version.to_string(), kind.to_string()))
    }

    /// Returns whether the schema declares a kind cluster-scoped.
    pub(crate) fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        self.namespaced.get(&(api_version.to_string(), kind.to_string())) == Some(&false)
    }

    /// The definition that a node references, or the node itself; `None` if the reference leads out of this schema.
    pub(super) fn resolve<'a>(&'a self, mut node: &'a Node) -> Option<&'a Node> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = node.get("$ref").and_then(Node::text) else { return Some(node) };
            let name = reference.strip_prefix("#/definitions/")?.replace("~1", "/").replace("~0", "~");
            node = self.definitions.get(name.as_str())?;
        }
        None
    }
}

fn type_meta(node: &Node) -> Option<(String, String)> {
    let text = |field: &str| node.get(field).and_then(Node::text);
    let (version, kind) = (text("version")?, text("kind")?);
    let group = text("group").unwrap_or_default();
    let api_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    Some((api_version, kind.to_string()))
}

/// The keys of a list as one text, separated by line breaks.
pub(super) fn list_id(node: &Node) -> Option<String> {
    let keys: Vec<&str> = node.items().iter().filter_map(Node::text).collect();
    (!keys.is_empty()).then(|| keys.join("\n"))
}

fn collect_keys(node: &Node, keys: &mut BTreeMap<String, Vec<Name>>) {
    for entry in node.entries() {
        let id = match &*entry.key {
            MERGE_KEY => entry.node.text().map(str::to_string),
            LIST_KEYS => list_id(&entry.node),
            _ => None,
        };
        if let Some(id) = id {
            let list = id.split('\n').map(Name::from).collect();
            keys.insert(id, list);
        }
        collect_keys(&entry.node, keys);
    }
    node.items().iter().for_each(|item| collect_keys(item, keys));
}
