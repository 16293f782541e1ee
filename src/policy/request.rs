//! The request of an applier for one object, as admission sees it.

use crate::base::finding::ObjectRef;
use crate::kube::Object;

/// The request with which an applier creates an object.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The object as the API server receives it.
    pub object: &'a Object,
    /// The resource of its kind, such as `deployments`.
    pub resource: &'a str,
    /// The namespace of the object; `None` for cluster-scoped objects.
    pub namespace: Option<&'a str>,
    /// The Namespace object, if the cluster receives it.
    pub namespace_object: Option<&'a Object>,
    /// The user that sends the request, if it is known.
    pub user: Option<&'a str>,
    /// The operation: `CREATE` or `UPDATE`.
    pub operation: &'static str,
}

impl Request<'_> {
    /// The version of the object, without its group.
    pub(super) fn version(&self) -> &str {
        let version = self.object.api_version();
        version.rsplit_once('/').map_or(version, |(_, version)| version)
    }

    /// The reference to the object, with its namespace.
    pub fn reference(&self) -> ObjectRef {
        ObjectRef { namespace: self.namespace.map(Into::into), ..self.object.reference() }
    }
}
