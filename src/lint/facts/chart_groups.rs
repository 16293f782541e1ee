//! Well-known charts that install CRDs.

/// The API groups whose CRDs a chart installs, by the name of the chart.
///
/// Source: the charts of these projects.
const CHARTS: &[(&str, &[&str])] = &[
    ("actions-runner-controller", &["actions.summerwind.dev"]),
    ("argo-cd", &["argoproj.io"]),
    ("argo-events", &["argoproj.io"]),
    ("argo-rollouts", &["argoproj.io"]),
    ("argo-workflows", &["argoproj.io"]),
    ("aws-load-balancer-controller", &["elbv2.k8s.aws"]),
    ("capsule", &["capsule.clastix.io"]),
    ("cert-manager", &["cert-manager.io", "acme.cert-manager.io"]),
    ("cert-manager-approver-policy", &["policy.cert-manager.io"]),
    ("cilium", &["cilium.io"]),
    ("cloudnative-pg", &["postgresql.cnpg.io"]),
    ("contour", &["projectcontour.io"]),
    ("crossplane", &["pkg.crossplane.io", "apiextensions.crossplane.io"]),
    ("dragonfly-operator", &["dragonflydb.io"]),
    ("eck-operator", &["elasticsearch.k8s.elastic.co", "kibana.k8s.elastic.co"]),
    ("eck-operator-crds", &["elasticsearch.k8s.elastic.co", "kibana.k8s.elastic.co"]),
    ("external-secrets", &["external-secrets.io", "generators.external-secrets.io"]),
    ("flagger", &["flagger.app"]),
    ("gatekeeper", &["templates.gatekeeper.sh", "config.gatekeeper.sh", "mutations.gatekeeper.sh"]),
    ("gateway-helm", &["gateway.networking.k8s.io", "gateway.envoyproxy.io"]),
    ("gha-runner-scale-set-controller", &["actions.github.com"]),
    ("grafana-operator", &["grafana.integreatly.org"]),
    ("istio-base", &["networking.istio.io", "security.istio.io", "telemetry.istio.io"]),
    ("k8up", &["k8up.io"]),
    ("karpenter", &["karpenter.sh", "karpenter.k8s.aws"]),
    ("karpenter-crd", &["karpenter.sh", "karpenter.k8s.aws"]),
    ("keda", &["keda.sh"]),
    ("kong", &["configuration.konghq.com"]),
    ("kube-prometheus-stack", &["monitoring.coreos.com"]),
    ("kyverno", &["kyverno.io", "policies.kyverno.io"]),
    ("linkerd-crds", &["linkerd.io", "policy.linkerd.io"]),
    ("longhorn", &["longhorn.io"]),
    ("mariadb-operator", &["k8s.mariadb.com"]),
    ("mariadb-operator-crds", &["k8s.mariadb.com"]),
    ("metallb", &["metallb.io"]),
    ("node-feature-discovery", &["nfd.k8s-sigs.io"]),
    ("opentelemetry-operator", &["opentelemetry.io"]),
    ("postgres-operator", &["acid.zalan.do"]),
    ("prometheus-operator-crds", &["monitoring.coreos.com"]),
    ("rabbitmq-cluster-operator", &["rabbitmq.com"]),
    ("rook-ceph", &["ceph.rook.io"]),
    ("sealed-secrets", &["bitnami.com"]),
    ("secrets-store-csi-driver", &["secrets-store.csi.x-k8s.io"]),
    ("snapshot-controller", &["snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io"]),
    ("strimzi-kafka-operator", &["kafka.strimzi.io"]),
    ("system-upgrade-controller", &["upgrade.cattle.io"]),
    ("tailscale-operator", &["tailscale.com"]),
    ("tigera-operator", &["operator.tigera.io"]),
    ("tofu-controller", &["infra.contrib.fluxcd.io"]),
    ("traefik", &["traefik.io", "traefik.containo.us"]),
    ("traefik-crds", &["traefik.io"]),
    ("trivy-operator", &["aquasecurity.github.io"]),
    ("trust-manager", &["trust.cert-manager.io"]),
    ("vault-secrets-operator", &["secrets.hashicorp.com"]),
    ("velero", &["velero.io"]),
    ("victoria-metrics-k8s-stack", &["operator.victoriametrics.com"]),
    ("victoria-metrics-operator", &["operator.victoriametrics.com"]),
    ("victoria-metrics-operator-crds", &["operator.victoriametrics.com"]),
    ("volsync", &["volsync.backube"]),
];

/// The API groups whose CRDs a chart installs; empty if they are unknown.
pub(crate) fn groups_of_chart(chart: &str) -> &'static [&'static str] {
    let found = CHARTS.binary_search_by(|(name, _)| (*name).cmp(chart));
    found.map_or(&[], |at| CHARTS[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_sorted() {
        assert!(CHARTS.is_sorted_by(|(one, _), (other, _)| one < other));
        assert_eq!(groups_of_chart("keda"), ["keda.sh"]);
    }
}
