//! The objects of a cluster, as policies look them up.

use crate::kube::Object;

/// The objects of a cluster.
pub trait Objects<'a> {
    /// Returns an object, if the cluster receives it. Cluster-scoped objects have the empty namespace.
    fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'a Object>;

    /// Returns the objects of a kind.
    fn of_kind(&self, group: &str, kind: &str) -> Vec<&'a Object>;

    /// Returns whether the cluster may have an object that the repository does not contain. Without a name, any object of
    /// the kind.
    fn may_have(&self, group: &str, kind: &str, namespace: &str, name: Option<&str>) -> bool;
}
