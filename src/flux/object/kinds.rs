//! The kinds of objects that Flux and Flux Operator reconcile.

use crate::kube::Object;

/// The API group of Flux Operator.
pub(crate) const OPERATOR: &str = "fluxcd.controlplane.io";

/// The default namespace of Flux.
pub(crate) const FLUX_NAMESPACE: &str = "flux-system";

/// Whether an object is of an API group of Flux, or a ResourceSet.
pub fn is_flux(object: &Object) -> bool {
    object.group().ends_with(".toolkit.fluxcd.io") || object.is("fluxcd.controlplane.io", "ResourceSet")
}

/// Whether an object is a Kustomization of Flux, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is("kustomize.toolkit.fluxcd.io", "Kustomization")
}

/// Whether an object is a source of which Kustomizations are built.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == "source.toolkit.fluxcd.io" && kinds.contains(&object.kind())
}

/// Whether an object may determine the tenants of a cluster.
pub(crate) fn concerns_tenancy(object: &Object) -> bool {
    match object.kind() {
        "Namespace" | "RoleBinding" | "ClusterRoleBinding" | "FluxInstance" => true,
        "Deployment" => object.name().ends_with("-controller"),
        _ => is_flux(object),
    }
}
