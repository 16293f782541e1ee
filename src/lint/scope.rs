//! Which kinds live in namespaces.

use crate::kube::groups;

/// Whether objects of a kind live in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// They do; one that names none is taken for one of `default`.
    Namespaced,
    /// They do not; a namespace that one names is dropped.
    Cluster,
    /// Nobody here knows.
    Unknown,
}

/// Whether objects of a kind live in a namespace, as far as that is known without its definition.
///
/// Source: the API of Kubernetes 1.34, and the definitions of Flux and of the controllers that fleets have most often.
pub(super) fn scope_of(group: &str, kind: &str) -> Scope {
    match group {
        "" => either(kind, &["ComponentStatus", "Namespace", "Node", "PersistentVolume"], CORE),
        _ if NAMESPACED.contains(&group) || groups::is_toolkit(group) => Scope::Namespaced,
        _ if CLUSTER.contains(&group) => Scope::Cluster,
        "authorization.k8s.io" => either(kind, &[], &["LocalSubjectAccessReview"]).or(Scope::Cluster),
        "certificates.k8s.io" => either(kind, &["CertificateSigningRequest", "ClusterTrustBundle"], &[]),
        "networking.k8s.io" => {
            either(kind, &["IngressClass", "IPAddress", "ServiceCIDR"], &["Ingress", "NetworkPolicy"])
        }
        "policy" => either(kind, &["PodSecurityPolicy"], &["PodDisruptionBudget"]),
        groups::RBAC => either(kind, &["ClusterRole", "ClusterRoleBinding"], &["Role", "RoleBinding"]),
        "resource.k8s.io" => either(
            kind,
            &["DeviceClass", "DeviceTaintRule", "ResourceSlice"],
            &["ResourceClaim", "ResourceClaimTemplate"],
        ),
        "storage.k8s.io" => either(kind, &[], &["CSIStorageCapacity"]).or(Scope::Cluster),
        "cert-manager.io" => either(kind, &["ClusterIssuer"], &["Certificate", "CertificateRequest", "Issuer"]),
        "external-secrets.io" => match kind.strip_prefix("Cluster") {
            Some(_) => Scope::Cluster,
            None => Scope::Namespaced,
        },
        "gateway.networking.k8s.io" => either(kind, &["GatewayClass"], &[]).or(Scope::Namespaced),
        "kyverno.io" => either(kind, &["ClusterPolicy", "ClusterCleanupPolicy", "GlobalContextEntry"], &["Policy"]),
        _ => Scope::Unknown,
    }
}

/// Groups of which all kinds live in namespaces.
const NAMESPACED: &[&str] = &[
    "acme.cert-manager.io",
    "apps",
    "autoscaling",
    "batch",
    "bitnami.com",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    groups::FLUX_OPERATOR,
    "monitoring.coreos.com",
    groups::SOURCE_EXTENSIONS,
];

/// Groups of which no kind does.
const CLUSTER: &[&str] = &[
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "node.k8s.io",
    "scheduling.k8s.io",
    "storagemigration.k8s.io",
];

/// The kinds of the core group that live in namespaces.
const CORE: &[&str] = &[
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
];

fn either(kind: &str, cluster: &[&str], namespaced: &[&str]) -> Scope {
    if cluster.contains(&kind) {
        Scope::Cluster
    } else if namespaced.contains(&kind) {
        Scope::Namespaced
    } else {
        Scope::Unknown
    }
}

impl Scope {
    /// The scope of the other kinds of a group.
    fn or(self, rest: Self) -> Self {
        if self == Self::Unknown { rest } else { self }
    }
}

/// The namespace that tells an object from others: none where its kind has none, and `default` where it names none. Of
/// a kind that nobody here knows, one that names `default` and one that names nothing are the same either way.
pub(super) fn settled_namespace<'a>(group: &str, kind: &str, namespace: &'a str) -> &'a str {
    match scope_of(group, kind) {
        Scope::Cluster => "",
        Scope::Namespaced | Scope::Unknown if namespace.is_empty() => "default",
        Scope::Namespaced | Scope::Unknown => namespace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_namespace_is_what_names_the_default_one() {
        assert_eq!(settled_namespace("", "ConfigMap", ""), "default");
        assert_eq!(settled_namespace("example.com", "Widget", ""), "default");
        assert_eq!(settled_namespace("", "ConfigMap", "apps"), "apps");
        assert_eq!(settled_namespace("rbac.authorization.k8s.io", "ClusterRole", "apps"), "");
        assert_eq!(settled_namespace("storage.k8s.io", "StorageClass", "apps"), "");
        assert_eq!(settled_namespace("storage.k8s.io", "CSIStorageCapacity", "apps"), "apps");
    }
}
