//! The schema that a kustomization names in `openapi`: merge keys and scopes of kinds that kustomize does not know.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::merge_keys::{ListMerge, Type};
use crate::base::finding::Finding;
use crate::kustomize::build::FAILED_BUILD;
use crate::kustomize::file::definition::Definition;
use crate::kustomize::file::files::Files;
use crate::kustomize::state::accumulator::Partial;
use crate::text::Index;
use crate::yaml::{Name, Node};

/// References of a schema are followed this far.
const MAX_REFERENCES: usize = 64;

/// An `OpenAPI` document, read for what a merge needs.
#[derive(Debug)]
pub(crate) struct UserSchema {
    definitions: Index<Name, Node>,
    /// By `apiVersion` and `kind`.
    objects: BTreeMap<(String, String), Node>,
    /// Whether objects have a namespace, by `apiVersion` and `kind`.
    namespaced: BTreeMap<(String, String), bool>,
    /// The lists of keys that its types name, so that they can be borrowed.
    keys: BTreeMap<String, Vec<Name>>,
    /// Whether the built-in schema is used too.
    pub(super) beside_built_in: bool,
}

/// The version of the schema that kustomize carries, the only one it takes.
const BUILT_IN_VERSION: &str = "v1.21.2";

/// Reads what a kustomization says in `openapi`. The first schema that is given holds; later ones say nothing.
///
/// kustomize reads its own schema when it meets the first object, and adds to it a schema that comes later: `is_begun`
/// tells that there was one.
pub(crate) fn load(
    files: &Files,
    definition: &Definition,
    schema: &mut Option<Arc<UserSchema>>,
    is_begun: bool,
    partial: &mut Partial,
) {
    let Some(openapi) = definition.entry("openapi") else { return };
    let said = |field: &str| openapi.node.get(field).filter(|node| !node.is_null());
    match (said("path"), said("version")) {
        (Some(_), Some(version)) => {
            let message = "`openapi` says both `path` and `version`, and kustomize takes one of them";
            partial.fail(Finding::error(FAILED_BUILD, version.span().clone(), message).help("remove one of the two"));
        }
        (None, Some(version)) if version.text().is_some_and(|text| !text.is_empty() && text != BUILT_IN_VERSION) => {
            let message = format!("kustomize has the schema of `{BUILT_IN_VERSION}` and no other");
            partial.fail(Finding::error(FAILED_BUILD, version.span().clone(), message));
        }
        (None, Some(version)) if version.text().is_some_and(|text| !text.is_empty()) => {
            schema.get_or_insert_with(|| Arc::new(UserSchema::nothing()));
        }
        (Some(path), None) => match files.locate(&definition.folder, path) {
            Err(finding) => partial.fail(finding),
            Ok(_) if schema.is_some() => {}
            Ok(found) => {
                let parsed = files.get(&found);
                parsed.iter().flat_map(|parsed| &parsed.findings).for_each(|finding| partial.fail(finding.clone()));
                let root = parsed.as_ref().and_then(|parsed| parsed.documents.first());
                *schema = root.map(|root| Arc::new(UserSchema::read(&root.node, is_begun)));
            }
        },
        _ => {}
    }
}

const KIND_OF: &str = "x-kubernetes-group-version-kind";
const STRATEGY: &str = "x-kubernetes-patch-strategy";
const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
const LIST_KEYS: &str = "x-kubernetes-list-map-keys";

impl UserSchema {
    /// A schema that says nothing beside the built-in one.
    fn nothing() -> Self {
        Self {
            definitions: Index::default(),
            objects: BTreeMap::new(),
            namespaced: BTreeMap::new(),
            keys: BTreeMap::new(),
            beside_built_in: true,
        }
    }

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
            for kind in entry.node.get(KIND_OF).map_or(&[][..], Node::items).iter().filter_map(type_meta) {
                schema.objects.insert(kind, entry.node.clone());
            }
            collect_keys(&entry.node, &mut schema.keys);
        }
        for path in root.get("paths").map_or(&[][..], Node::entries) {
            let kind = path.node.at_keys(&["get", KIND_OF]).and_then(type_meta);
            let Some(kind) = kind else { continue };
            let namespaced = path.key.contains("namespaces/{namespace}");
            let known = schema.namespaced.entry(kind).or_insert(namespaced);
            *known |= namespaced;
        }
        schema
    }

    pub(crate) fn object(&self, api_version: &str, kind: &str) -> Option<&Node> {
        self.objects.get(&(api_version.to_string(), kind.to_string()))
    }

    /// Tells whether the schema says that objects of a kind have no namespace.
    pub(crate) fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        self.namespaced.get(&(api_version.to_string(), kind.to_string())) == Some(&false)
    }

    /// The type of a field, or of its items, and how it merges when it is a list.
    pub(crate) fn field<'a>(&'a self, node: &'a Node, name: &str) -> Option<(Type<'a>, ListMerge<'a>)> {
        let own = node.get("properties").and_then(|properties| properties.get(name));
        let field = own.or_else(|| node.get("additionalProperties").filter(|node| node.is_map()))?;
        let Some(field) = self.resolve(field) else {
            return Some((self.built_in(field)?, ListMerge::Replace));
        };
        let strategy = field.get(STRATEGY).and_then(Node::text).unwrap_or_default();
        if !strategy.split(',').any(|one| one == "merge") {
            return Some((Type::User(self, field), ListMerge::Replace));
        }
        let keys = field.get(LIST_KEYS).and_then(list_id).or_else(|| field.get(MERGE_KEY)?.text().map(str::to_string));
        let merge = keys.and_then(|keys| self.keys.get(&keys)).map_or(ListMerge::Set, |keys| ListMerge::By(keys));
        let items = field.get("items").and_then(|items| self.resolve(items));
        let built_in = || field.get("items").and_then(|items| self.built_in(items));
        let items = items.map(|items| Type::User(self, items)).or_else(built_in);
        Some((items.unwrap_or(Type::Unknown(Some(self))), merge))
    }

    /// The built-in type that a reference names which leads out of this schema.
    fn built_in<'a>(&'a self, mut node: &'a Node) -> Option<Type<'static>> {
        for _ in 0..MAX_REFERENCES {
            let reference = node.get("$ref").and_then(Node::text)?;
            match self.definitions.get(reference.strip_prefix("#/definitions/")?) {
                Some(next) => node = next,
                None if self.beside_built_in => return Type::named(reference.rsplit('.').next()?),
                None => return None,
            }
        }
        None
    }

    fn resolve<'a>(&'a self, mut node: &'a Node) -> Option<&'a Node> {
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

/// The keys of a list in one text, which no key can hold.
fn list_id(node: &Node) -> Option<String> {
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
