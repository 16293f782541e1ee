//! References to sources, and the lookup of the objects that they name.

use std::fmt;
use std::sync::Arc;

use crate::kube::Object;
use crate::yaml::Node;

/// A reference to a source: what `sourceRef` of a Kustomization says, with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceRef {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: Arc<str>,
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for SourceRef {
    /// Writes `Kind/namespace/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// Finds what a cluster has.
pub trait Lookup {
    /// The object of a source kind.
    fn source(&self, reference: &SourceRef) -> Option<Object>;

    /// The ArtifactGenerators of a namespace, in order.
    fn generators(&self, namespace: &str) -> Vec<Object>;

    /// Whether something that is not known may bring a source of a namespace.
    fn may_bring(&self, _namespace: &str) -> bool {
        false
    }

    /// The folder of the repository that a source hands out whatever address it has: that of the cluster's root.
    fn own(&self, _source: &SourceRef) -> Option<String> {
        None
    }
}

impl SourceRef {
    /// The source of a Kustomization: its `spec.sourceRef`.
    pub(crate) fn of_kustomization(object: &Object) -> Option<Self> {
        let source = object.node.at_keys(&["spec", "sourceRef"])?;
        let said = |key: &str| source.get(key).and_then(Node::text).filter(|text| !text.is_empty());
        let namespace = said("namespace").or(object.namespace()).unwrap_or_default();
        Some(SourceRef { kind: said("kind")?.into(), namespace: namespace.into(), name: said("name")?.into() })
    }
}
