//! The fields of an applier that do not depend on its place in the build of a cluster.

use super::applier_kind::ApplierKind;
use crate::base::finding::ObjectRef;
use crate::yaml::Name;

/// The fields of an applier that do not depend on its place in the build of a cluster. Clusters that receive equal
/// objects share them.
#[derive(Debug, Clone)]
pub struct ApplierFields {
    /// The kind of the applier.
    pub kind: ApplierKind,
    /// The identity of the object. The object may have no manifest: the flux CLI or Flux Operator may create the sync
    /// of a root.
    pub reference: ObjectRef,
    /// The identity of the source on the cluster.
    pub source: Option<ObjectRef>,
    /// The directory that the applier applies, relative to the root of its artifact.
    pub folder: String,
    /// The other cluster to which the applier applies objects: the name of the Secret or ConfigMap in `kubeConfig`.
    pub target: Option<Name>,
}
