//! The objects of an installation of Flux by `flux bootstrap`, `flux install` or Flux Operator.

use crate::flux::object::kinds::image_names;
use crate::kube::{Object, groups};

/// The name of the chart, the Deployment, the service account and the binding of Flux Operator.
pub(crate) const OPERATOR: &str = "flux-operator";

/// The controllers of Flux. Each has a ServiceAccount and a Deployment.
pub const CONTROLLERS: [&str; 7] = [
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
    "source-watcher",
];

/// The controllers that Flux installs by default.
pub const DEFAULT_CONTROLLERS: [&str; 4] =
    ["source-controller", "kustomize-controller", "helm-controller", "notification-controller"];

/// The API groups of Flux and Flux Operator.
const GROUPS: [&str; 7] = [
    groups::SOURCE,
    groups::KUSTOMIZE,
    groups::HELM,
    groups::NOTIFICATION,
    groups::IMAGE,
    groups::SOURCE_EXTENSIONS,
    groups::FLUX_OPERATOR,
];

/// The kinds of workloads that run a controller. The manifests of Flux have Deployments.
pub const CONTROLLER_KINDS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// The controller of Flux that a workload runs, by its name or by the name of an image. The name of a shard starts with the
/// name of its controller.
pub fn controller_of(workload: &Object) -> Option<&'static str> {
    if workload.group() != "apps" || !CONTROLLER_KINDS.contains(&workload.kind()) {
        return None;
    }
    let is_named = |controller: &&&str| {
        let rest = workload.name().strip_prefix(**controller);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let images = || image_names(workload);
    let found = CONTROLLERS.iter().find(is_named);
    found.or_else(|| CONTROLLERS.iter().find(|controller| images().any(|image| image == **controller))).copied()
}

/// Returns whether an object is part of an installation of Flux in a namespace.
///
/// Source: the manifests of Flux 2.7 to 2.9 and of Flux Operator's chart. Names of cluster-scoped objects end with the
/// namespace.
pub fn installs(home: &str, group: &str, kind: &str, namespace: &str, name: &str) -> bool {
    let is_controller = |name: &str| CONTROLLERS.contains(&name) || name == OPERATOR;
    match (group, kind) {
        ("", "Namespace") => name == home,
        ("", "ServiceAccount") | ("apps", "Deployment") => namespace == home && is_controller(name),
        ("", "Service") => {
            let services = ["source-controller", "notification-controller", "webhook-receiver", "source-watcher"];
            namespace == home && (services.contains(&name) || name == "flux-operator")
        }
        (groups::RBAC, "ClusterRole") => {
            let own = name.strip_suffix(home).and_then(|name| name.strip_suffix('-'));
            matches!(own, Some("crd-controller" | "flux-edit" | "flux-view")) || name == "flux-operator"
        }
        (groups::RBAC, "ClusterRoleBinding") => {
            let own = name.strip_suffix(home).and_then(|name| name.strip_suffix('-'));
            matches!(own, Some("crd-controller" | "cluster-reconciler")) || name == "flux-operator"
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            name.split_once('.').is_some_and(|(_, group)| GROUPS.contains(&group))
        }
        _ => false,
    }
}

/// The file to which `flux bootstrap` writes the manifests of Flux.
pub(super) const COMPONENTS_FILE: &str = "gotk-components.yaml";
