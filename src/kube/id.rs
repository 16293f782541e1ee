//! The identity of an object.

use std::fmt;

use super::groups;
use super::object::Object;
use super::scope::settled_namespace;

/// The identity of an object, without the version of its API: group, kind, namespace and name.
///
/// The namespace is the one that is written. It is empty for cluster-scoped objects, and where none is set.
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

    /// Tells whether the identity is complete: it contains no variable or template expression.
    pub fn is_known(&self) -> bool {
        ![self.kind, self.namespace, self.name].iter().any(|text| text.contains('$') || text.contains("{{"))
    }

    /// Tells whether the kind belongs to Flux or to Flux Operator.
    pub fn is_flux(&self) -> bool {
        groups::is_toolkit(self.group) || self.group == groups::FLUX_OPERATOR
    }
}

impl fmt::Display for ObjectId<'_> {
    /// Writes the kind, namespace and name as messages show objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace {
            "" => write!(f, "{} `{}`", self.kind, self.name),
            namespace => write!(f, "{} `{namespace}/{}`", self.kind, self.name),
        }
    }
}
