//! The kinds of objects that Flux and Flux Operator reconcile.

use crate::kube::{Object, groups};
use crate::yaml::Node;

/// Returns whether an object belongs to an API group of Flux, or is a ResourceSet.
pub fn is_flux(object: &Object) -> bool {
    groups::is_toolkit(object.group()) || object.is(groups::FLUX_OPERATOR, "ResourceSet")
}

/// Returns whether an object is a Kustomization of Flux, of any version.
pub fn is_kustomization(object: &Object) -> bool {
    object.is(groups::KUSTOMIZE, "Kustomization")
}

/// Returns whether an object is a source from which Flux can build Kustomizations.
pub fn is_source(object: &Object) -> bool {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"];
    object.group() == groups::SOURCE && kinds.contains(&object.kind())
}

/// Returns whether an object is a copy from a cluster, such as the output of `kubectl get`. The API server rejects a new
/// object with a resource version.
pub(crate) fn is_exported(object: &Object) -> bool {
    ["uid", "resourceVersion"].iter().all(|key| object.text_at(&["metadata", key]).is_some())
}

/// Returns whether an object may determine the tenants of a cluster.
pub(crate) fn concerns_tenancy(object: &Object) -> bool {
    match object.kind() {
        "Namespace" | "RoleBinding" | "ClusterRoleBinding" | "FluxInstance" => true,
        "Deployment" | "StatefulSet" | "DaemonSet" => {
            let is_controller = |name: &str| name.ends_with("-controller");
            is_controller(object.name()) || object.name() == "flux-operator" || image_names(object).any(is_controller)
        }
        _ => is_flux(object),
    }
}

/// The names of the images of a workload, without registry, tag and digest.
pub(crate) fn image_names(workload: &Object) -> impl Iterator<Item = &str> {
    let containers = workload.node.at_keys(&["spec", "template", "spec", "containers"]).map_or(&[][..], Node::items);
    let images = containers.iter().filter_map(|container| container.get("image")?.text());
    images.filter_map(|image| image.rsplit('/').next()?.split([':', '@']).next())
}
