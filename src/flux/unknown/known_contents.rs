//! The table of charts and artifacts with known contents.

use crate::kube::groups;

/// A chart or artifact with known contents.
#[derive(Debug)]
pub(crate) struct KnownContents {
    /// The name of the chart, or the last segment of the artifact's address.
    pub(super) name: &'static str,
    pub(super) purpose: Purpose,
    /// The API groups of its CRDs.
    pub(super) groups: &'static [&'static str],
}

/// The purpose of a chart or artifact, which determines what it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The installation of Flux or Flux Operator.
    Flux,
    /// CRDs and nothing else.
    Definitions,
    /// A controller with its CRDs.
    Controller,
    /// Manifests that its values contain.
    Manifests,
}

const FLUX_GROUPS: &[&str] =
    &[groups::SOURCE, groups::SOURCE_EXTENSIONS, groups::KUSTOMIZE, groups::HELM, groups::NOTIFICATION, groups::IMAGE];
const OPERATOR_GROUPS: &[&str] = &[groups::FLUX_OPERATOR];
const CERT_MANAGER: &[&str] = &["cert-manager.io", "acme.cert-manager.io"];
const EXTERNAL_SECRETS: &[&str] = &["external-secrets.io", "generators.external-secrets.io"];
const GATEWAY: &[&str] = &["gateway.networking.k8s.io", "gateway.networking.x-k8s.io"];
const KYVERNO: &[&str] = &["kyverno.io", "policies.kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io"];
const PROMETHEUS: &[&str] = &["monitoring.coreos.com"];
const SNAPSHOTS: &[&str] = &["snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io"];
const TRAEFIK: &[&str] = &["traefik.io", "hub.traefik.io"];

/// The charts and artifacts with known contents, by name.
///
/// Source: the charts and manifests that the projects publish. A mirror keeps the name.
const TABLE: &[KnownContents] = &[
    row("flux-operator", Purpose::Flux, OPERATOR_GROUPS),
    row("flux-operator-manifests", Purpose::Flux, OPERATOR_GROUPS),
    // The cluster receives its FluxInstance with the root.
    row("flux-instance", Purpose::Flux, &[]),
    row("flux2", Purpose::Flux, FLUX_GROUPS),
    row("flux-manifests", Purpose::Flux, FLUX_GROUPS),
    row("flux2-sync", Purpose::Manifests, &[]),
    row("flux2-multi-tenancy", Purpose::Manifests, &[]),
    row("flux2-notification", Purpose::Manifests, &[]),
    row("raw", Purpose::Manifests, &[]),
    row("helm-raw", Purpose::Manifests, &[]),
    row("kubernetes-manifests", Purpose::Manifests, &[]),
    row("any-resource", Purpose::Manifests, &[]),
    row("extra-objects", Purpose::Manifests, &[]),
    row("argocd-apps", Purpose::Manifests, &[]),
    row("cert-manager", Purpose::Controller, CERT_MANAGER),
    row("external-secrets", Purpose::Controller, EXTERNAL_SECRETS),
    row("external-secrets-crds", Purpose::Definitions, EXTERNAL_SECRETS),
    row("gateway-api", Purpose::Definitions, GATEWAY),
    row("gateway-api-crds", Purpose::Definitions, GATEWAY),
    row("gateway-crds-helm", Purpose::Definitions, &[]),
    row("kube-prometheus-stack", Purpose::Controller, PROMETHEUS),
    row("kyverno", Purpose::Controller, KYVERNO),
    row("kyverno-crds", Purpose::Definitions, KYVERNO),
    row("prometheus-operator-crds", Purpose::Definitions, PROMETHEUS),
    row("snapshot-controller", Purpose::Controller, SNAPSHOTS),
    row("traefik-crds", Purpose::Definitions, TRAEFIK),
    row("grafana-operator-crds", Purpose::Definitions, &["grafana.integreatly.org"]),
    row("victoria-metrics-operator-crds", Purpose::Definitions, &["operator.victoriametrics.com"]),
    row("mariadb-operator-crds", Purpose::Definitions, &["k8s.mariadb.com"]),
    row("eck-operator-crds", Purpose::Definitions, &[]),
    row("istio-base", Purpose::Definitions, &[]),
];

const fn row(name: &'static str, purpose: Purpose, groups: &'static [&'static str]) -> KnownContents {
    KnownContents { name, purpose, groups }
}

/// The known contents of a chart or artifact with a name; the name may be a path or an address.
pub(super) fn known(name: &str) -> Option<&'static KnownContents> {
    let name = name.rsplit('/').next().unwrap_or(name);
    TABLE.iter().find(|known| known.name == name)
}

/// Returns whether a chart or artifact contains nothing but the installation of Flux or Flux Operator.
pub(crate) fn installs_flux(name: &str) -> bool {
    known(name).is_some_and(|known| known.purpose == Purpose::Flux)
}

/// The owners of repositories on GitHub whose manifests are for everybody.
///
/// A repository of any other owner may belong to the fleet.
const PROJECTS: &[&str] = &[
    "argoproj",
    "cert-manager",
    "cilium",
    "cloudnative-pg",
    "controlplaneio-fluxcd",
    "external-secrets",
    "fluxcd",
    "grafana",
    "istio",
    "jetstack",
    "k8snetworkplumbingwg",
    "kubernetes",
    "kubernetes-csi",
    "kubernetes-sigs",
    "kyverno",
    "longhorn",
    "metallb",
    "piraeusdatastore",
    "prometheus-operator",
    "rancher",
    "rook",
    "tektoncd",
    "traefik",
    "volsync",
];

/// Returns whether the manifests at an address are those of a public project, which does not know any fleet.
pub(super) fn is_of_project(address: &str) -> bool {
    let mut segments = address.split('/');
    let host = segments.next().unwrap_or_default();
    let owner = segments.next().unwrap_or_default();
    let is_example = |name: &str| name.contains("example") || name.contains("fleet");
    host == "github.com" && PROJECTS.contains(&owner) && !segments.next().is_some_and(is_example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (at, known) in TABLE.iter().enumerate() {
            assert!(!TABLE[..at].iter().any(|other| other.name == known.name), "{}", known.name);
        }
    }

    #[test]
    fn a_mirror_keeps_the_name() {
        assert!(installs_flux("registry.example.com/mirror/controlplaneio-fluxcd/charts/flux-operator"));
        assert!(!installs_flux("registry.example.com/acme/flux-operator-config"));
    }

    #[test]
    fn a_repository_with_an_example_is_a_fleet() {
        assert!(is_of_project("github.com/fluxcd/flux2"));
        assert!(!is_of_project("github.com/fluxcd/flux2-kustomize-helm-example"));
        assert!(!is_of_project("github.com/acme/flux2"));
    }
}
