//! Appliers: the objects that apply other objects.

use std::ops::Deref;
use std::sync::Arc;

use crate::base::finding::ObjectRef;
use crate::flux::model::applier_fields::ApplierFields;
use crate::flux::model::applier_kind::{ApplierKind, State};
use crate::flux::model::variables::Variables;
use crate::kube::Object;

/// An object that applies other objects to a cluster, with its fields.
#[derive(Debug, Clone)]
pub struct Applier {
    /// The fields that clusters share.
    pub(crate) fields: Arc<ApplierFields>,
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
    pub shares_with: Arc<[Object]>,
    /// The variables that the applier substitutes.
    pub variables: Arc<Variables>,
    /// Whether all objects that the applier would apply are known. This includes a failed build without objects, such
    /// as the build of a missing path.
    pub is_known: bool,
    /// The state of the build.
    pub state: State,
    /// Whether the object of the applier may lack changes, so that the applier may apply other objects.
    pub(crate) lacks_changes: bool,
}

impl Deref for Applier {
    type Target = ApplierFields;

    fn deref(&self) -> &ApplierFields {
        &self.fields
    }
}

impl Applier {
    /// Returns whether the bootstrap of the cluster creates the applier.
    pub fn is_of_bootstrap(&self) -> bool {
        self.parent_applier.as_ref().is_some_and(|parent| parent.kind == ApplierKind::Bootstrap)
    }

    /// Returns whether the applier syncs the repository of the cluster. A user may apply further appliers with the bootstrap.
    pub(crate) fn is_of_root(&self) -> bool {
        self.parent_applier.as_ref().is_some_and(|parent| match parent.kind {
            ApplierKind::Bootstrap => parent.reference == self.reference,
            kind => kind == ApplierKind::FluxInstance,
        })
    }

    /// The applier of a directory in a repository without a root.
    pub(crate) fn folder(folder: &str, at: usize) -> Self {
        let name = if folder.is_empty() { "." } else { folder };
        let reference = ObjectRef { api_version: "".into(), kind: "Folder".into(), namespace: None, name: name.into() };
        Self {
            fields: Arc::new(ApplierFields {
                kind: ApplierKind::Folder,
                reference,
                source: None,
                folder: folder.to_string(),
                target: None,
            }),
            object: None,
            at,
            parent: None,
            parent_applier: None,
            shares_with: Arc::default(),
            variables: Arc::default(),
            is_known: true,
            state: State::Built,
            lacks_changes: false,
        }
    }
}
