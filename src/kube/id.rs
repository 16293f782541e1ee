//! The identity of an object.

use std::fmt;
use std::sync::LazyLock;

use super::groups;
use super::object::Object;
use super::scope::settled_namespace;
use crate::base::finding::{ObjectRef, write_object};
use crate::yaml::{Name, Node};

/// The identity of an object, without the version of its API: group, kind, namespace and name.
///
/// [`ObjectId::of`] reads the namespace as written, and [`ObjectId::settled`] replaces it with the namespace that the
/// API server uses. The namespace is empty if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty if there is none.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

impl<'a> ObjectId<'a> {
    /// Returns the identity of an object, as written.
    pub fn of(object: &'a Object) -> Self {
        let (group, kind) = (object.group(), object.kind());
        Self { group, kind, namespace: object.namespace().unwrap_or_default(), name: object.name() }
    }

    /// Returns the identity with the namespace that the API server uses: see [`settled_namespace`].
    #[must_use]
    pub fn settled(self) -> Self {
        Self { namespace: settled_namespace(self.group, self.kind, self.namespace), ..self }
    }

    /// Returns whether the identity is complete: it contains no variable or template expression.
    pub fn is_known(&self) -> bool {
        ![self.kind, self.namespace, self.name].iter().any(|text| text.contains('$') || text.contains("{{"))
    }

    /// Returns whether the kind belongs to Flux or to Flux Operator.
    pub fn is_flux(&self) -> bool {
        groups::is_toolkit(self.group) || self.group == groups::FLUX_OPERATOR
    }
}

/// The identity of an object as the key of maps, with the namespace that the API server uses.
///
/// Two keys are equal if the API server treats both objects as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    group: Name,
    kind: Name,
    namespace: Name,
    name: Name,
}

static EMPTY: LazyLock<Name> = LazyLock::new(|| Name::from(""));
static DEFAULT: LazyLock<Name> = LazyLock::new(|| Name::from("default"));

impl ObjectKey {
    /// The key of an object, which shares the texts of the object where possible.
    pub fn of(object: &Object) -> Self {
        let id = ObjectId::of(object).settled();
        let metadata = object.node.get("metadata");
        let field = |key: &str| metadata.and_then(|metadata| metadata.get(key));
        Self {
            group: shared_group(id.group),
            kind: shared(id.kind, object.node.get("kind")),
            namespace: shared(id.namespace, field("namespace")),
            name: shared(id.name, field("name")),
        }
    }

    /// The identity of the object.
    pub fn id(&self) -> ObjectId<'_> {
        ObjectId { group: &self.group, kind: &self.kind, namespace: &self.namespace, name: &self.name }
    }

    /// The namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &Name {
        &self.namespace
    }
}

/// The groups of most indexed objects.
static GROUPS: LazyLock<[Name; 2]> = LazyLock::new(|| [groups::KUSTOMIZE, groups::SOURCE].map(Name::from));

/// A group as a shared text.
fn shared_group(group: &str) -> Name {
    GROUPS.iter().find(|known| ***known == *group).cloned().unwrap_or_else(|| shared(group, None))
}

/// A shared text: a constant, the text of `node` if it is equal, or a new text.
fn shared(text: &str, node: Option<&Node>) -> Name {
    match text {
        "" => EMPTY.clone(),
        "default" => DEFAULT.clone(),
        _ => node.and_then(Node::shared_text).filter(|shared| **shared == *text).unwrap_or_else(|| text.into()),
    }
}

impl From<ObjectId<'_>> for ObjectKey {
    fn from(id: ObjectId<'_>) -> Self {
        let ObjectId { group, kind, namespace, name } = id.settled();
        Self { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }
}

impl<'a> From<&'a ObjectRef> for ObjectId<'a> {
    fn from(reference: &'a ObjectRef) -> Self {
        let namespace = reference.namespace.as_deref().unwrap_or_default();
        Self { group: reference.group(), kind: &reference.kind, namespace, name: &reference.name }
    }
}

impl fmt::Display for ObjectId<'_> {
    /// Writes the kind, namespace and name as messages show objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_object(f, self.kind, self.namespace, self.name)
    }
}
