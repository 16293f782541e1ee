//! References to sources, and the lookup of the referenced objects.

use std::fmt;

use arcstr::ArcStr;

use crate::kube::Object;
use crate::yaml::Node;

/// A reference to a source: the `sourceRef` of a Kustomization, with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceRef {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: ArcStr,
    /// The namespace of the source.
    pub namespace: ArcStr,
    /// The name of the source.
    pub name: ArcStr,
}

impl fmt::Display for SourceRef {
    /// Writes `Kind/namespace/name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// Looks up the objects of a cluster.
pub trait Lookup {
    /// The source object of a reference.
    fn source(&self, reference: &SourceRef) -> Option<Object>;

    /// The ArtifactGenerators of a namespace, in order.
    fn generators(&self, namespace: &str) -> Vec<Object>;

    /// Returns whether an unknown producer may create a source in a namespace.
    fn may_bring(&self, _namespace: &str) -> bool {
        false
    }

    /// The directory of the repository that is the content of a root's source, regardless of the address of the source.
    fn own(&self, _source: &SourceRef) -> Option<String> {
        None
    }
}

impl SourceRef {
    /// The source of a Kustomization: its `spec.sourceRef`.
    pub(crate) fn of_kustomization(object: &Object) -> Option<Self> {
        let source = object.node.at_keys(&["spec", "sourceRef"])?;
        let field = |key: &str| source.get(key).and_then(Node::shared_text).filter(|text| !text.is_empty());
        let own = || object.namespace().and_then(|_| object.node.at_keys(&["metadata", "namespace"])?.shared_text());
        let namespace = field("namespace").or_else(own).unwrap_or_default();
        Some(SourceRef { kind: field("kind")?, namespace, name: field("name")? })
    }
}
