//! Tenants, their namespaces and what confines them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::automation::{Alert, ImageAutomation, Receiver};
use super::component::{Component, Reconcile};
use super::source::Source;
use crate::fleet::scalar::{DnsLabel, Patch, Raw, Text};

/// A tenant: somebody whose repositories the clusters run.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Its name.
    #[schemars(example = &"apps")]
    pub name: DnsLabel,
    /// `platform`: reconciled as cluster admin, in Flux's namespace. `tenant`: confined to its namespaces.
    #[schemars(example = &"tenant")]
    pub role: Role,
    /// Where its components come from.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"url": "https://github.com/acme/apps.git", "secret": "flux-apps"}))]
    pub source: Option<Source>,
    /// Further sources, which components choose by name.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "charts", "url": "oci://registry.example.com/charts", "ref": {"semver": "1.x"}}]))]
    pub sources: Vec<Source>,
    /// What of it runs.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "backend"}, {"name": "frontend", "dependsOn": ["backend"]}]))]
    pub components: Vec<Component>,
    /// Its namespaces, where they need more than a component's `namespace` says.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "backend", "quota": {"limits.memory": "16Gi"}}]))]
    pub namespaces: Vec<Namespace>,
    /// Everything that `defaults.tenant` can say too.
    #[serde(flatten)]
    pub settings: TenantSettings,
}

/// How far a tenant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Reconciled as cluster admin, in Flux's namespace.
    Platform,
    /// Confined to its namespaces, under its own service account.
    Tenant,
}

/// What can be said of every tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantSettings {
    /// Tenants that must be ready first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra"]))]
    pub depends_on: Option<Vec<DnsLabel>>,
    /// The ServiceAccount that reconciles it in each of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub service_account: Option<DnsLabel>,
    /// What that account may do there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"clusterRole": "edit"}))]
    pub bind: Option<Bind>,
    /// Whether the `HelmRelease`s and Kustomizations inside get the tenant's account, whatever they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub enforce_service_account: Option<bool>,
    /// Whether its components find a copy of runtime-info in their namespaces, empty for keys that a cluster lacks; `false` where something else brings it, such as a policy of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub copy_runtime_info: Option<bool>,
    /// People's access to its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"group": "apps-developers", "role": "edit"}]))]
    pub access: Option<Vec<Access>>,
    /// Labels of everything that it brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"team": "apps"}))]
    pub labels: Option<BTreeMap<String, Text>>,
    /// Annotations of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"example.com/cost-center": "4711"}))]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// What each of its namespaces may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"requests.cpu": "8", "limits.memory": "16Gi"}))]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of a LimitRange in each of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"type": "Container", "default": {"memory": "256Mi"}}]))]
    pub limit_range: Option<Vec<Raw>>,
    /// The traffic that its namespaces let in and out unless a policy of their own allows more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"denyIngress": true, "allowSameNamespace": true}))]
    pub network_policy: Option<NetworkPolicy>,
    /// The Pod Security level of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enforce": "restricted"}))]
    pub pod_security: Option<PodSecurity>,
    /// Admission policies of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"syncSecrets": true, "helm": "oci"}))]
    pub policies: Option<Policies>,
    /// Updates of image tags in its sources, on the clusters that run image automation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"interval": "30m"}))]
    pub image_automation: Option<ImageAutomation>,
    /// Notifications about what it reconciles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "slack", "type": "slack", "channel": "apps", "secret": "slack-url"}]))]
    pub alerts: Option<Vec<Alert>>,
    /// Webhooks that make its sources reconcile at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "github", "type": "github", "events": ["push"], "secret": "webhook-token"}]))]
    pub receivers: Option<Vec<Receiver>>,
    /// The Kustomization on each cluster that brings the tenant itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"interval": "1h"}))]
    pub sync: Option<Reconcile>,
    /// Settings for its components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"timeout": "5m"}))]
    pub defaults: Option<Reconcile>,
    /// Further objects beside the generated ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "motd", "namespace": "backend"}}]))]
    pub objects: Option<Vec<Raw>>,
    /// kustomize patches on the generated objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "GitRepository"}, "patch": [{"op": "add", "path": "/spec/proxySecretRef", "value": {"name": "proxy"}}]}]))]
    pub patches: Option<Vec<Patch>>,
}

/// What the tenant's account may do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// A ClusterRole; `admin` of the namespace when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"edit")]
    pub cluster_role: Option<String>,
    /// The rules of a Role of its own, instead of a ClusterRole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]}]))]
    pub rules: Option<Vec<Raw>>,
}

/// Access of people to a tenant's namespaces.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The group, as the cluster's authentication names it.
    #[schemars(example = &"apps-developers")]
    pub group: String,
    /// The ClusterRole that it gets in the namespaces.
    #[schemars(example = &"edit")]
    pub role: String,
    /// The namespaces; all of the tenant's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["backend"]))]
    pub namespaces: Option<Vec<DnsLabel>>,
}

/// A namespace of a confined tenant; what it does not say is the tenant's.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Namespace {
    /// Its name.
    #[schemars(example = &"backend")]
    pub name: DnsLabel,
    /// Its labels, beside the tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"team": "backend"}))]
    pub labels: Option<BTreeMap<String, Text>>,
    /// Its annotations, beside the tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"example.com/owner": "backend"}))]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// What it may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"limits.memory": "16Gi"}))]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of its LimitRange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"type": "Container", "default": {"memory": "256Mi"}}]))]
    pub limit_range: Option<Vec<Raw>>,
    /// The traffic that it lets in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"denyIngress": true}))]
    pub network_policy: Option<NetworkPolicy>,
    /// Its Pod Security level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enforce": "baseline"}))]
    pub pod_security: Option<PodSecurity>,
}

/// The traffic of a namespace.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicy {
    /// Whether nothing comes in but what a policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub deny_ingress: Option<bool>,
    /// Whether nothing goes out but what a policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub deny_egress: Option<bool>,
    /// Whether pods of the namespace reach each other all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub allow_same_namespace: Option<bool>,
    /// Whether pods reach the cluster's DNS all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub allow_dns: Option<bool>,
}

/// Pod Security admission.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSecurity {
    /// Pods above this level are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub enforce: Option<PodSecurityLevel>,
    /// Pods above this level are logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub audit: Option<PodSecurityLevel>,
    /// Pods above this level make a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub warn: Option<PodSecurityLevel>,
}

/// A Pod Security level.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PodSecurityLevel {
    Privileged,
    Baseline,
    Restricted,
}

/// Admission policies of a tenant, for Kyverno.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    /// Whether the tenant's Secrets in Flux's namespace are copied into its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub sync_secrets: Option<bool>,
    /// Which Helm sources are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci")]
    pub helm: Option<HelmSources>,
}

/// Which Helm sources a tenant may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HelmSources {
    /// Any HelmRepository.
    Any,
    /// `HelmRepository` objects of type `oci` only.
    Oci,
}
