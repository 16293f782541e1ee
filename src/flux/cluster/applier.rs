//! Appliers: the objects that apply other objects.

use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::variables::Variables;
use crate::kube::Object;
use crate::yaml::Name;

/// An object that applies other objects to a cluster.
#[derive(Debug, Clone)]
pub struct Applier {
    /// The kind of the applier.
    pub kind: ApplierKind,
    /// The identity of the object. The object may have no manifest: the flux CLI or Flux Operator may create the sync
    /// of a root.
    pub reference: ObjectRef,
    /// The object as the cluster receives it, if the repository contains the object.
    pub object: Option<Object>,
    /// The index of the applier in [`Cluster::appliers`](super::desired_state::Cluster::appliers).
    pub at: usize,
    /// The index of the applier that applies the object of this applier; `None` for the root.
    pub parent: Option<usize>,
    /// The applier that applies the object of this applier; `None` for the root.
    pub parent_applier: Option<Arc<Applier>>,
    /// Objects of other clusters with the same content. A shared build has the positions of these objects; see
    /// [`Applier::place`].
    pub shares_with: Vec<Object>,
    /// The identity of the source on the cluster.
    pub source: Option<ObjectRef>,
    /// The directory that the applier applies, relative to the root of its artifact.
    pub folder: String,
    /// The other cluster to which the applier applies objects: the name of the Secret or ConfigMap in `kubeConfig`.
    pub target: Option<Name>,
    /// The variables that the applier substitutes.
    pub variables: Arc<Variables>,
    /// Whether all objects that the applier would apply are known. This includes a failed build without objects, such
    /// as the build of a missing path.
    pub is_known: bool,
    /// The state of the build.
    pub state: State,
}

impl Applier {
    /// The applier of a directory in a repository without a root.
    pub(crate) fn folder(folder: &str, at: usize) -> Self {
        let name = if folder.is_empty() { "." } else { folder };
        Self {
            kind: ApplierKind::Folder,
            reference: ObjectRef { api_version: "".into(), kind: "Folder".into(), namespace: None, name: name.into() },
            object: None,
            at,
            parent: None,
            parent_applier: None,
            shares_with: Vec::new(),
            source: None,
            folder: folder.to_string(),
            target: None,
            variables: Arc::default(),
            is_known: true,
            state: State::Built,
        }
    }
}
