//! The scope of kinds: namespaced or cluster-scoped.

use super::groups;

/// The scope of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Objects have a namespace. It is `default` if none is set.
    Namespaced,
    /// Objects have no namespace. The API server ignores a namespace that is set.
    Cluster,
    /// The kind is not known.
    Unknown,
}

/// Returns the scope of a kind, if it is known without a `CustomResourceDefinition`.
///
/// Source: the API of Kubernetes 1.36, and the CRDs of Flux and of the controllers that fleets use most.
pub fn scope_of(group: &str, kind: &str) -> Scope {
    match group {
        "" => either(kind, &["ComponentStatus", "Namespace", "Node", "PersistentVolume"], CORE),
        _ if NAMESPACED.contains(&group) || groups::is_toolkit(group) => Scope::Namespaced,
        _ if CLUSTER.contains(&group) => Scope::Cluster,
        "authorization.k8s.io" => either(kind, &[], &["LocalSubjectAccessReview"]).or(Scope::Cluster),
        "certificates.k8s.io" => {
            either(kind, &["CertificateSigningRequest", "ClusterTrustBundle"], &["PodCertificateRequest"])
        }
        "networking.k8s.io" => {
            either(kind, &["IngressClass", "IPAddress", "ServiceCIDR"], &["Ingress", "NetworkPolicy"])
        }
        "policy" => either(kind, &["PodSecurityPolicy"], &["PodDisruptionBudget"]),
        groups::RBAC => either(kind, &["ClusterRole", "ClusterRoleBinding"], &["Role", "RoleBinding"]),
        "resource.k8s.io" => either(
            kind,
            &["DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice"],
            &["ResourceClaim", "ResourceClaimTemplate"],
        ),
        "scheduling.k8s.io" => either(kind, &["PriorityClass"], &["PodGroup", "Workload"]),
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

/// The groups whose kinds are all namespaced.
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

/// The groups whose kinds are all cluster-scoped.
const CLUSTER: &[&str] = &[
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "node.k8s.io",
    "storagemigration.k8s.io",
];

/// The namespaced kinds of the core group.
const CORE: &[&str] = &[
    "Binding",
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
    /// Returns this scope, or `rest` if this scope is unknown.
    fn or(self, rest: Self) -> Self {
        if self == Self::Unknown { rest } else { self }
    }
}

/// Returns the namespace by which the API server identifies an object.
///
/// The namespace of a cluster-scoped kind is empty. For other kinds, the default is `default`.
///
/// If the scope is unknown, an object without a namespace and an object in `default` have the same identity, whether or
/// not the kind is namespaced.
pub fn settled_namespace<'a>(group: &str, kind: &str, namespace: &'a str) -> &'a str {
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
    fn an_unset_namespace_is_default() {
        assert_eq!(settled_namespace("", "ConfigMap", ""), "default");
        assert_eq!(settled_namespace("example.com", "Widget", ""), "default");
        assert_eq!(settled_namespace("", "ConfigMap", "apps"), "apps");
        assert_eq!(settled_namespace("rbac.authorization.k8s.io", "ClusterRole", "apps"), "");
        assert_eq!(settled_namespace("storage.k8s.io", "StorageClass", "apps"), "");
        assert_eq!(settled_namespace("storage.k8s.io", "CSIStorageCapacity", "apps"), "apps");
    }
}
