//! Appliers: the objects that apply other objects.

use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::variables::Variables;
use crate::kube::Object;
use crate::yaml::Name;

/// Something that brings objects into a cluster.
#[derive(Debug, Clone)]
pub struct Applier {
    /// What it is.
    pub kind: ApplierKind,
    /// The object that it is, or would be: a root's sync may be made by the flux CLI or the operator.
    pub reference: ObjectRef,
    /// The object as the cluster receives it, when it is in the repository.
    pub object: Option<Object>,
    /// The place of this applier among [`Cluster::appliers`], and of the one that brings it; `None` for the root.
    pub at: usize,
    /// See `at`.
    pub parent: Option<usize>,
    /// See `parent`.
    pub brought_by: Option<Arc<Applier>>,
    /// Objects of other clusters that say the same, and whose places its objects show; see [`Applier::place`].
    pub shares_with: Vec<Object>,
    /// The source that it builds from, as the cluster knows it.
    pub source: Option<ObjectRef>,
    /// The folder that it applies, from the root of its source's artifact.
    pub folder: String,
    /// The cluster that it applies to when that is another one: the name of the `kubeConfig`'s Secret or ConfigMap.
    pub target: Option<Name>,
    /// What it substitutes.
    pub variables: Arc<Variables>,
    /// Whether all that it would bring is known: that of a build that fails may be too, as where the path is not there.
    pub is_known: bool,
    /// How its build went.
    pub state: State,
}

impl Applier {
    /// A folder of a repository without a root.
    pub(crate) fn folder(folder: &str, at: usize) -> Self {
        let name = if folder.is_empty() { "." } else { folder };
        Self {
            kind: ApplierKind::Folder,
            reference: ObjectRef { api_version: "".into(), kind: "Folder".into(), namespace: None, name: name.into() },
            object: None,
            at,
            parent: None,
            brought_by: None,
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
