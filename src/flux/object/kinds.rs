//! The kinds of objects that Flux and Flux Operator reconcile.

use crate::kube::Object;
use crate::kube::groups;

/// Whether an object is of one of Flux's kinds, sources, deliveries and the operator's sets.
pub fn is_flux(object: &Object) -> bool {
    groups::is_toolkit(object.group()) || object.is(groups::FLUX_OPERATOR, "ResourceSet")
}

/// Flux's own Kustomization, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is(groups::KUSTOMIZE, "Kustomization")
}

/// Whether an object is one of Flux's sources that Kustomizations build from.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == groups::SOURCE && kinds.contains(&object.kind())
}

/// Tells whether an object may say something about the tenants of a cluster.
pub(crate) fn tells(object: &Object) -> bool {
    match object.kind() {
        "Namespace" | "RoleBinding" | "ClusterRoleBinding" | "FluxInstance" => true,
        "Deployment" => object.name().ends_with("-controller"),
        _ => is_flux(object),
    }
}
