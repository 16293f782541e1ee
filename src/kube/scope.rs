//! The scope of kinds: namespaced or cluster-scoped.

use std::sync::LazyLock;

use super::groups;
use crate::text::Index;

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
/// Source: the kinds with a built-in schema; the API of earlier releases of Kubernetes, and the CRDs of the controllers
/// that fleets use most.
pub fn scope_of(group: &str, kind: &str) -> Scope {
    if groups::is_toolkit(group) {
        return Scope::Namespaced;
    }
    if let Some(scope) = KINDS.get(&(group, kind)) {
        return *scope;
    }
    match group {
        "" => either(kind, &["ComponentStatus"], &[]),
        _ if NAMESPACED.contains(&group) => Scope::Namespaced,
        "policy" => either(kind, &["PodSecurityPolicy"], &[]),
        "cert-manager.io" => either(kind, &["ClusterIssuer"], &["Certificate", "CertificateRequest", "Issuer"]),
        "external-secrets.io" => match kind.strip_prefix("Cluster") {
            Some(_) => Scope::Cluster,
            None => Scope::Namespaced,
        },
        "gateway.networking.k8s.io" => match kind {
            "GatewayClass" => Scope::Cluster,
            _ => Scope::Namespaced,
        },
        "kyverno.io" => either(kind, &["ClusterPolicy", "ClusterCleanupPolicy", "GlobalContextEntry"], &["Policy"]),
        _ => Scope::Unknown,
    }
}

/// The kinds with a built-in schema: a line with group, kind, resource and scope for each.
static KINDS: LazyLock<Index<(&str, &str), Scope>> = LazyLock::new(|| {
    let lines = include_str!("../../schemas/apis/kinds.txt").lines();
    let kinds = lines.filter_map(|line| {
        let mut words = line.split(' ');
        let (group, kind, _, scope) = (words.next()?, words.next()?, words.next()?, words.next()?);
        Some(((group, kind), if scope == "Cluster" { Scope::Cluster } else { Scope::Namespaced }))
    });
    kinds.collect()
});

/// The groups of other controllers, and removed groups, whose kinds are all namespaced.
const NAMESPACED: &[&str] = &["acme.cert-manager.io", "bitnami.com", "extensions", "monitoring.coreos.com"];

fn either(kind: &str, cluster: &[&str], namespaced: &[&str]) -> Scope {
    if cluster.contains(&kind) {
        Scope::Cluster
    } else if namespaced.contains(&kind) {
        Scope::Namespaced
    } else {
        Scope::Unknown
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
