//! Fields that the API server does not change.

use crate::kube::Object;

/// The immutable fields of kinds, by group and kind. A field includes all fields below it.
const IMMUTABLE: &[(&str, &str, &[&str])] = &[
    ("apps", "Deployment", &["spec.selector"]),
    ("apps", "DaemonSet", &["spec.selector"]),
    ("apps", "ReplicaSet", &["spec.selector"]),
    (
        "apps",
        "StatefulSet",
        &["spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"],
    ),
    ("batch", "Job", &["spec.selector", "spec.template", "spec.completionMode"]),
    ("", "PersistentVolumeClaim", &["spec.storageClassName", "spec.accessModes", "spec.volumeMode", "spec.selector"]),
    ("", "PersistentVolume", &["spec.csi", "spec.nfs", "spec.hostPath", "spec.local", "spec.nodeAffinity"]),
    ("", "Service", &["spec.clusterIP", "spec.clusterIPs"]),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"]),
    ("storage.k8s.io", "StorageClass", &["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"]),
    ("", "Secret", &["type"]),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["spec.group", "spec.names.kind", "spec.scope"]),
];

/// Returns whether the API server rejects a change of a field.
pub(super) fn is_immutable(before: &Object, field: &str) -> bool {
    let is_at =
        |known: &&str| field.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let is_sealed = before.group().is_empty()
        && matches!(before.kind(), "ConfigMap" | "Secret")
        && before.text_at(&["immutable"]) == Some("true");
    if is_sealed && ["data", "stringData", "binaryData"].iter().any(is_at) {
        return true;
    }
    let of_kind = IMMUTABLE.iter().find(|(group, kind, _)| before.is(group, kind));
    of_kind.is_some_and(|(_, _, fields)| fields.iter().any(is_at))
}
