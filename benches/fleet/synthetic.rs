//! Fleets of any size, as fleet.yaml would say them.

use std::fmt::Write;

/// How many tenants run on each cluster.
const TENANTS: usize = 50;
/// How many of them are platform tenants; they come first.
const PLATFORMS: usize = 2;

/// The fleet.yaml of `clusters` clusters in three environments.
pub(crate) fn fleet(clusters: usize) -> String {
    let mut text = String::from(HEAD);
    text.push_str("clusters:\n");
    for cluster in 0..clusters {
        let environment = ["staging", "production-eu", "production-us"][cluster % 3];
        writeln!(text, "  - name: cluster-{cluster:04}").expect("a String takes everything");
        writeln!(text, "    environment: {environment}").expect("a String takes everything");
        writeln!(
            text,
            "    runtimeInfo: {{CLUSTER_NAME: cluster-{cluster:04}, CLUSTER_DOMAIN: c{cluster}.example.com}}"
        )
        .expect("a String takes everything");
    }
    text.push_str("tenants:\n");
    for tenant in 0..TENANTS {
        let description = if tenant < PLATFORMS { platform(tenant) } else { confined(tenant) };
        text.push_str(&description);
    }
    text
}

const HEAD: &str = "\
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
name: synthetic
repository:
  url: https://git.example.com/acme/fleet.git
  secret: flux-system
environments:
  staging: {imageAutomation: true}
  production-eu: {sourceBranch: production, runtimeInfo: {REGION: eu}}
  production-us: {sourceBranch: production, runtimeInfo: {REGION: us}}
";

fn platform(tenant: usize) -> String {
    format!(
        "  - name: platform-{tenant}
    role: platform
    source: {{url: https://git.example.com/acme/platform-{tenant}.git, secret: flux-system}}
    components:
      - name: monitoring-{tenant}
        stages: [{{name: controllers, timeout: 10m}}, {{name: configs, timeout: 5m}}]
      - name: admission-{tenant}
        stages: [{{name: controllers, timeout: 10m}}, {{name: configs, timeout: 5m}}]
        dependsOn: [monitoring-{tenant}/controllers]
"
    )
}

/// Every fourth confined tenant has guards around its namespaces, every sixth has its images updated.
fn confined(tenant: usize) -> String {
    let mut text = format!(
        "  - name: team-{tenant:02}
    role: tenant
    dependsOn: [platform-0]
    source: {{url: https://git.example.com/team-{tenant:02}/apps.git, secret: flux-apps}}
    components:
      - name: team-{tenant:02}-backend
      - name: team-{tenant:02}-frontend
        dependsOn: [team-{tenant:02}-backend]
"
    );
    if tenant.is_multiple_of(4) {
        text.push_str(GUARDS);
    }
    if tenant.is_multiple_of(6) {
        text.push_str("    imageAutomation: {author: {name: bot, email: bot@example.com}}\n");
    }
    text
}

const GUARDS: &str = "\
\x20   quota: {requests.cpu: '4', requests.memory: 8Gi}
    networkPolicy: {denyIngress: true, allowSameNamespace: true}
    podSecurity: {enforce: restricted}
";
