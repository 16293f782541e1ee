//! The kinds that `CustomResourceDefinition` objects define.

use std::sync::{Arc, OnceLock};

use crate::api::schema::{Link, Mistake, read};
use crate::kube::{Object, Scope, has_encrypted_value};
use crate::text::Span;
use crate::yaml::{Name, Node};

/// A kind that a `CustomResourceDefinition` defines.
#[derive(Debug)]
pub struct Definition {
    /// The group.
    pub group: Name,
    /// The kind.
    pub kind: Name,
    /// The name of the resource.
    pub plural: Name,
    /// Whether objects have a namespace.
    pub scope: Scope,
    /// The versions, in the order of the object.
    pub versions: Vec<Version>,
    /// The position of the object.
    pub at: Span,
}

/// A version of a kind.
#[derive(Debug)]
pub struct Version {
    /// The name, such as `v1beta1`.
    pub name: Name,
    /// Whether the API server serves the version.
    pub served: bool,
    /// Whether the API server stores objects in this version.
    pub storage: bool,
    /// Whether the version is deprecated.
    pub deprecated: bool,
    schema: Option<Node>,
    read: OnceLock<(Link, Vec<Mistake>)>,
}

impl Definition {
    /// Reads a `CustomResourceDefinition`; `None` for other objects and for definitions that the API server rejects.
    pub fn read(object: &Object) -> Option<Arc<Self>> {
        // Only this version of a definition has been served since Kubernetes 1.22.
        if object.api_version() != "apiextensions.k8s.io/v1" || object.kind() != "CustomResourceDefinition" {
            return None;
        }
        let spec = object.node.get("spec").filter(|spec| !has_encrypted_value(spec))?;
        let text = |keys: &[&str]| spec.at_keys(keys).and_then(Node::shared_text);
        let is_true = |node: &Node, field: &str| node.get(field).and_then(Node::text) == Some("true");
        let versions = spec.get("versions")?.items().iter().filter_map(|version| {
            Some(Version {
                name: version.get("name")?.shared_text()?,
                served: is_true(version, "served"),
                storage: is_true(version, "storage"),
                deprecated: is_true(version, "deprecated"),
                schema: version.at_keys(&["schema", "openAPIV3Schema"]).cloned(),
                read: OnceLock::new(),
            })
        });
        Some(Arc::new(Self {
            group: text(&["group"])?,
            kind: text(&["names", "kind"])?,
            plural: text(&["names", "plural"])?,
            scope: match spec.get("scope")?.text()? {
                "Cluster" => Scope::Cluster,
                "Namespaced" => Scope::Namespaced,
                _ => return None,
            },
            versions: versions.collect(),
            at: object.span().clone(),
        }))
    }

    /// Returns whether another definition has the same served versions with equal schemas.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let served = |of: &Self| {
            let versions = of.versions.iter().filter(|version| version.served);
            versions.map(|version| (version.name.clone(), version.schema.clone())).collect::<Vec<_>>()
        };
        std::ptr::eq(self, other) || (self.scope == other.scope && served(self) == served(other))
    }

    /// The served version with a name.
    pub fn served(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.served && &*version.name == name)
    }
}

impl Version {
    /// The schema; `None` if the definition has none.
    pub fn schema(&self) -> Option<&Link> {
        self.schema.as_ref().map(|node| &self.read(node).0)
    }

    /// The parts of the schema that the API server rejects.
    pub fn mistakes(&self) -> &[Mistake] {
        self.schema.as_ref().map_or(&[], |node| &self.read(node).1)
    }

    fn read(&self, node: &Node) -> &(Link, Vec<Mistake>) {
        self.read.get_or_init(|| {
            let (schema, mistakes) = read(node);
            (Link::new(schema), mistakes)
        })
    }
}
