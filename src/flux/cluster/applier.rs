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
    /// The identity of the object. It may have no manifest: the flux CLI or the operator may create the sync of a root.
    pub reference: ObjectRef,
    /// The object as the cluster receives it, if it is in the repository.
    pub object: Option<Object>,
    /// The index in [`Cluster::appliers`](super::desired_state::Cluster::appliers).
    pub at: usize,
    /// The index of the applier that applies this one; `None` for the root.
    pub parent: Option<usize>,
    /// The applier that applies this one.
    pub parent_applier: Option<Arc<Applier>>,
    /// Objects of other clusters with the same content: the places of a shared build are theirs; see
    /// [`Applier::place`].
    pub shares_with: Vec<Object>,
    /// The source of its artifact, as the cluster knows it.
    pub source: Option<ObjectRef>,
    /// The directory that it applies, from the root of its artifact.
    pub folder: String,
    /// The other cluster that it applies to: the name of the Secret or ConfigMap in `kubeConfig`.
    pub target: Option<Name>,
    /// The variables that it substitutes.
    pub variables: Arc<Variables>,
    /// Whether all objects that it would apply are known. This includes failed builds without objects, such as that of
    /// a missing path.
    pub is_known: bool,
    /// The state of its build.
    pub state: State,
}

impl Applier {
    /// A directory of a repository without a root.
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
