//! Fleets of any size, as fleet.yaml would say them.

use std::fmt::Write;

/// The size and the form of a fleet.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) clusters: usize,
    /// The tenants of each cluster. The first two are platform tenants.
    pub(crate) tenants: usize,
    /// The components of each confined tenant.
    pub(crate) components: usize,
    /// The length of the chains of components that depend on each other.
    pub(crate) depth: usize,
    /// How many clusters share the values of the further variables.
    pub(crate) sharing: usize,
    /// The number of further variables of each cluster, and so the size of the objects with variables.
    pub(crate) variables: usize,
    pub(crate) layout: String,
}

impl Default for Form {
    fn default() -> Self {
        let layout = "d1".to_owned();
        Self { clusters: 1, tenants: 50, components: 2, depth: 2, sharing: 1, variables: 0, layout }
    }
}

impl Form {
    /// Sets a field from `NAME=VALUE`.
    pub(crate) fn set(&mut self, setting: &str) {
        let (name, value) = setting.split_once('=').expect("a setting is `NAME=VALUE`");
        let number = || value.parse().expect("the value is a number");
        match name {
            "clusters" => self.clusters = number(),
            "tenants" => self.tenants = number(),
            "components" => self.components = number(),
            "depth" => self.depth = number(),
            "sharing" => self.sharing = number(),
            "variables" => self.variables = number(),
            "layout" => value.clone_into(&mut self.layout),
            _ => panic!("unknown setting `{name}`"),
        }
    }
}

/// How many tenants are platform tenants; they come first.
const PLATFORMS: usize = 2;

/// The fleet.yaml of a fleet with three environments.
pub(crate) fn fleet(form: &Form) -> String {
    let mut text = HEAD.replace("LAYOUT", &form.layout);
    text.push_str("clusters:\n");
    for cluster in 0..form.clusters {
        let environment = ["staging", "production-eu", "production-us"][cluster % 3];
        let group = cluster / form.sharing.max(1);
        let mut line = |line: String| writeln!(text, "{line}").expect("a String takes everything");
        line(format!("  - name: cluster-{cluster:04}"));
        line(format!("    environment: {environment}"));
        line("    runtimeInfo:".to_owned());
        line(format!("      CLUSTER_NAME: cluster-{cluster:04}"));
        line(format!("      CLUSTER_DOMAIN: c{cluster}.example.com"));
        for variable in 0..form.variables {
            line(format!("      VARIABLE_{variable}: the value of variable {variable} in group {group}"));
        }
    }
    text.push_str("tenants:\n");
    for tenant in 0..form.tenants {
        let description = if tenant < PLATFORMS { platform(tenant) } else { confined(tenant, form) };
        text.push_str(&description);
    }
    text
}

const HEAD: &str = "\
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
name: synthetic
layout: LAYOUT
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
fn confined(tenant: usize, form: &Form) -> String {
    let mut text = format!(
        "  - name: team-{tenant:02}
    role: tenant
    dependsOn: [platform-0]
    source: {{url: https://git.example.com/team-{tenant:02}/apps.git, secret: flux-apps}}
    components:
"
    );
    let name = |component: usize| match component {
        0 => format!("team-{tenant:02}-backend"),
        1 => format!("team-{tenant:02}-frontend"),
        _ => format!("team-{tenant:02}-part-{component}"),
    };
    for component in 0..form.components {
        writeln!(text, "      - name: {}", name(component)).expect("a String takes everything");
        if !component.is_multiple_of(form.depth.max(1)) {
            writeln!(text, "        dependsOn: [{}]", name(component - 1)).expect("a String takes everything");
        }
    }
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
