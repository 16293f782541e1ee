//! The scopes of kinds in kustomize's built-in schema.

use crate::kube::groups;

/// The cluster-scoped kinds of kustomize's built-in schema: group, versions, kinds.
///
/// kustomize compares versions exactly and adds a namespace to kinds of an unknown `apiVersion`.
///
/// Source: the schema of Kubernetes 1.21, which kustomize 5.8 embeds.
const CLUSTER_SCOPED: &[(&str, &[&str], &[&str])] = &[
    ("", &["v1"], &["ComponentStatus", "Namespace", "Node", "NodeProxyOptions", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["v1", "v1beta1"], &["IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    (groups::RBAC, &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("storage.k8s.io", &["v1", "v1beta1"], &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];

/// Returns whether kustomize treats a kind as cluster-scoped.
pub fn is_cluster_scoped(group: &str, version: &str, kind: &str) -> bool {
    CLUSTER_SCOPED
        .iter()
        .any(|(its_group, versions, kinds)| *its_group == group && versions.contains(&version) && kinds.contains(&kind))
}
