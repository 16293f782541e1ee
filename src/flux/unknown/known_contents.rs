//! The table of charts and artifacts with known contents.

use crate::kube::groups;

/// A chart or artifact with known contents.
#[derive(Debug)]
pub(crate) struct KnownContents {
    /// The name of the chart, or the last segment of the artifact's address.
    pub(super) name: &'static str,
    pub(super) purpose: Purpose,
    /// The API groups of the CRDs.
    pub(super) groups: &'static [&'static str],
    /// Whether `groups` contains all groups.
    is_complete: bool,
}

impl KnownContents {
    /// The API groups of all CRDs of the chart or artifact, if they are known.
    pub(super) fn all_groups(&self) -> Option<&'static [&'static str]> {
        Some(self.groups).filter(|groups| self.is_complete && !groups.is_empty())
    }
}

/// The purpose of a chart or artifact, which determines the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The installation of Flux or Flux Operator.
    Flux,
    /// Only CRDs.
    Definitions,
    /// A controller and its CRDs.
    Controller,
    /// Manifests that the values of the chart contain.
    Manifests,
    /// Some known CRDs, and other unknown contents.
    Other,
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
/// Source: the charts and manifests that the projects publish. A mirror keeps the name of a chart.
const TABLE: &[KnownContents] = &[
    row("flux-operator", Purpose::Flux, OPERATOR_GROUPS),
    row("flux-operator-manifests", Purpose::Flux, OPERATOR_GROUPS),
    // The cluster receives the FluxInstance of this chart with the root.
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
    some("eck-operator-crds", Purpose::Definitions, &["elasticsearch.k8s.elastic.co", "kibana.k8s.elastic.co"]),
    some("istio-base", Purpose::Definitions, &["networking.istio.io", "security.istio.io", "telemetry.istio.io"]),
    other("actions-runner-controller", &["actions.summerwind.dev"]),
    other("argo-cd", &["argoproj.io"]),
    other("argo-events", &["argoproj.io"]),
    other("argo-rollouts", &["argoproj.io"]),
    other("argo-workflows", &["argoproj.io"]),
    other("aws-load-balancer-controller", &["elbv2.k8s.aws"]),
    other("capsule", &["capsule.clastix.io"]),
    other("cert-manager-approver-policy", &["policy.cert-manager.io"]),
    other("cilium", &["cilium.io"]),
    other("cloudnative-pg", &["postgresql.cnpg.io"]),
    other("contour", &["projectcontour.io"]),
    other("crossplane", &["pkg.crossplane.io", "apiextensions.crossplane.io"]),
    other("dragonfly-operator", &["dragonflydb.io"]),
    other("eck-operator", &["elasticsearch.k8s.elastic.co", "kibana.k8s.elastic.co"]),
    other("external-dns", &["externaldns.k8s.io"]),
    other("flagger", &["flagger.app"]),
    other("gatekeeper", &["templates.gatekeeper.sh", "config.gatekeeper.sh", "mutations.gatekeeper.sh"]),
    other("gateway-helm", &["gateway.networking.k8s.io", "gateway.envoyproxy.io"]),
    other("gha-runner-scale-set-controller", &["actions.github.com"]),
    other("grafana-operator", &["grafana.integreatly.org"]),
    other("k8up", &["k8up.io"]),
    other("karpenter", &["karpenter.sh", "karpenter.k8s.aws"]),
    other("karpenter-crd", &["karpenter.sh", "karpenter.k8s.aws"]),
    other("keda", &["keda.sh"]),
    other("kong", &["configuration.konghq.com"]),
    other("linkerd-crds", &["linkerd.io", "policy.linkerd.io"]),
    other("longhorn", &["longhorn.io"]),
    other("mariadb-operator", &["k8s.mariadb.com"]),
    other("metallb", &["metallb.io"]),
    other("node-feature-discovery", &["nfd.k8s-sigs.io"]),
    other("opentelemetry-operator", &["opentelemetry.io"]),
    other("postgres-operator", &["acid.zalan.do"]),
    other("rabbitmq-cluster-operator", &["rabbitmq.com"]),
    other("rook-ceph", &["ceph.rook.io"]),
    other("sealed-secrets", &["bitnami.com"]),
    other("secrets-store-csi-driver", &["secrets-store.csi.x-k8s.io"]),
    other("strimzi-kafka-operator", &["kafka.strimzi.io"]),
    other("system-upgrade-controller", &["upgrade.cattle.io"]),
    other("tailscale-operator", &["tailscale.com"]),
    // The name of the chart `tofu-controller` before 0.16.
    other("tf-controller", &["infra.contrib.fluxcd.io"]),
    other("tigera-operator", &["operator.tigera.io"]),
    other("tofu-controller", &["infra.contrib.fluxcd.io"]),
    other("traefik", &["traefik.io", "traefik.containo.us"]),
    other("trivy-operator", &["aquasecurity.github.io"]),
    other("trust-manager", &["trust.cert-manager.io"]),
    other("vault-secrets-operator", &["secrets.hashicorp.com"]),
    other("velero", &["velero.io"]),
    other("victoria-metrics-k8s-stack", &["operator.victoriametrics.com"]),
    other("victoria-metrics-operator", &["operator.victoriametrics.com"]),
    other("volsync", &["volsync.backube"]),
];

const fn row(name: &'static str, purpose: Purpose, groups: &'static [&'static str]) -> KnownContents {
    KnownContents { name, purpose, groups, is_complete: true }
}

/// A row with an incomplete list of groups.
const fn some(name: &'static str, purpose: Purpose, groups: &'static [&'static str]) -> KnownContents {
    KnownContents { name, purpose, groups, is_complete: false }
}

/// A row for a chart of which only CRDs are known.
const fn other(name: &'static str, groups: &'static [&'static str]) -> KnownContents {
    some(name, Purpose::Other, groups)
}

/// The known contents of a chart or artifact with a name; the name may be a path or an address.
pub(super) fn known(name: &str) -> Option<&'static KnownContents> {
    let name = name.rsplit('/').next().unwrap_or(name);
    TABLE.iter().find(|known| known.name == name).filter(|known| known.purpose != Purpose::Other)
}

/// The API groups of the CRDs that a chart installs; empty if they are unknown, or if the chart installs Flux.
pub fn groups_of_chart(chart: &str) -> &'static [&'static str] {
    let found = TABLE.iter().find(|known| known.name == chart && known.purpose != Purpose::Flux);
    found.map_or(&[], |known| known.groups)
}

/// Returns whether a chart or artifact contains only the installation of Flux or Flux Operator.
pub(crate) fn installs_flux(name: &str) -> bool {
    known(name).is_some_and(|known| known.purpose == Purpose::Flux)
}

/// The owners of GitHub repositories whose manifests are for any cluster.
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
    "stefanprodan",
    "tektoncd",
    "traefik",
    "volsync",
];

/// More owners of registries and of GitHub pages whose charts are for any cluster.
const CHART_PUBLISHERS: &[&str] = &[
    "actions",
    "aquasecurity",
    "aws",
    "aws-controllers-k8s",
    "azure",
    "backube",
    "bitnami",
    "bitnami-labs",
    "bitnamicharts",
    "bjw-s",
    "coredns",
    "crossplane",
    "crossplane-contrib",
    "dexidp",
    "dragonflydb",
    "emberstack",
    "falcosecurity",
    "fluxcd-community",
    "goauthentik",
    "haproxy-ingress",
    "haproxytech",
    "hashicorp",
    "headlamp-k8s",
    "home-operations",
    "intel",
    "itzg",
    "jaegertracing",
    "kedacore",
    "kubecost",
    "kubereboot",
    "mariadb-operator",
    "meilisearch",
    "mittwald",
    "nextcloud",
    "nginxinc",
    "oauth2-proxy",
    "open-policy-agent",
    "open-telemetry",
    "openebs",
    "openfaas",
    "piraeus",
    "portainer",
    "postfinance",
    "projectcalico",
    "prometheus-community",
    "runatlantis",
    "spegel-org",
    "stakater",
    "vmware-tanzu",
    "weaveworks",
    "wiremind",
];

/// The domains of hosts whose charts are for any cluster.
const CHART_DOMAINS: &[&str] = &[
    "bitnami.com",
    "cilium.io",
    "elastic.co",
    "gitlab.io",
    "goauthentik.io",
    "goharbor.io",
    "hashicorp.com",
    "jetstack.io",
    "linkerd.io",
    "longhorn.io",
    "min.io",
    "rook.io",
    "traefik.io",
];

/// Returns whether the charts of an owner are for any cluster.
pub(super) fn publishes_charts(owner: &str) -> bool {
    PROJECTS.contains(&owner) || CHART_PUBLISHERS.contains(&owner)
}

/// Returns whether the charts of a domain are for any cluster.
pub(super) fn is_chart_domain(domain: &str) -> bool {
    CHART_DOMAINS.contains(&domain)
}

/// Returns whether the manifests at an address belong to a public project, not to a fleet.
pub(crate) fn is_of_project(address: &str) -> bool {
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
    fn the_definitions_of_a_chart_do_not_tell_its_other_contents() {
        assert_eq!((groups_of_chart("keda"), known("keda").is_none()), (&["keda.sh"][..], true));
        assert!(known("istio-base").is_some_and(|known| known.all_groups().is_none()));
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
