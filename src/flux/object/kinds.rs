//! The kinds of objects that Flux and Flux Operator reconcile.

use crate::kube::Object;

/// The group of Flux Operator's kinds.
pub(crate) const OPERATOR: &str = "fluxcd.controlplane.io";

/// The namespace that Flux is installed in where nothing says otherwise.
pub(crate) const FLUX_NAMESPACE: &str = "flux-system";

/// Whether an object is of one of Flux's kinds, sources, deliveries and the operator's sets.
pub fn is_flux(object: &Object) -> bool {
    object.group().ends_with(".toolkit.fluxcd.io") || object.is("fluxcd.controlplane.io", "ResourceSet")
}

/// Flux's own Kustomization, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is("kustomize.toolkit.fluxcd.io", "Kustomization")
}

/// Whether an object is one of Flux's sources that Kustomizations build from.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == "source.toolkit.fluxcd.io" && kinds.contains(&object.kind())
}

/// Tells whether an object may say something about the tenants of a cluster.
pub(crate) fn tells(object: &Object) -> bool {
    match object.kind() {
        "Namespace" | "RoleBinding" | "ClusterRoleBinding" | "FluxInstance" => true,
        "Deployment" => object.name().ends_with("-controller"),
        _ => is_flux(object),
    }
}
