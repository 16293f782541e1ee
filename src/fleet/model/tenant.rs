//! Tenants, their namespaces and their restrictions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::automation::{Alert, ImageAutomation, Receiver};
use super::component::{Component, ComponentDefaults, Reconcile};
use super::source::Source;
use crate::fleet::scalar::{DnsLabel, LabelKey, LabelValue, Patch, Quantity, QuotaResource, Raw, ResourceName, Text};

/// A tenant: a team with its own source repositories.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The name of the tenant.
    #[schemars(example = &"apps")]
    pub name: DnsLabel,
    /// The role of the tenant. `platform`: Flux reconciles it as cluster admin, in the namespace of Flux. `tenant`: confined to its namespaces. Required unless the layout sets a default.
    #[schemars(example = &"tenant")]
    #[serde(default)]
    pub role: Option<Role>,
    /// The default source of the tenant's components.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"url": "https://github.com/acme/apps.git", "secret": "flux-apps"}))]
    pub source: Option<Source>,
    /// Additional sources. Components reference them by name.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "charts", "url": "oci://registry.example.com/charts", "ref": {"semver": "1.x"}}]))]
    pub sources: Vec<Source>,
    /// The components of the tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "backend"}, {"name": "frontend", "dependsOn": ["backend"]}]))]
    pub components: Vec<Component>,
    /// The namespaces of the tenant that need more settings than a component's `namespace`.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "backend", "quota": {"limits.memory": "16Gi"}}]))]
    pub namespaces: Vec<Namespace>,
    /// The names of the clusters that run the tenant, or globs. With `environments`, the clusters of both. Defaults to all clusters that do not set other `tenants`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-eu", "staging-*"]))]
    pub clusters: Option<Vec<String>>,
    /// The names of the environments whose clusters run the tenant, or globs. Defaults to all clusters that do not set other `tenants`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["production"]))]
    pub environments: Option<Vec<String>>,
    /// The settings that `defaults.tenant` can also set.
    #[serde(flatten)]
    pub settings: TenantSettings,
}

/// The role of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Reconciled as cluster admin, in the namespace of Flux.
    Platform,
    /// Confined to its namespaces, with its own service account.
    Tenant,
}

/// The settings of a tenant, which `defaults.tenant` can also set.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantSettings {
    /// The tenants that must be ready before this tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra"]))]
    pub depends_on: Option<Vec<DnsLabel>>,
    /// The name of the ServiceAccount that Flux impersonates in each namespace of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-apps")]
    pub service_account: Option<DnsLabel>,
    /// The permissions of the service account in the tenant's namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"clusterRole": "edit"}))]
    pub bind: Option<Bind>,
    /// Whether a patch sets the tenant's service account on every `HelmRelease` and Kustomization in the tenant's sources. It overrides their own value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub enforce_service_account: Option<bool>,
    /// Whether a copy of runtime-info is created in the namespaces of the tenant's components. A key that a cluster does not define has an empty value. Set `false` if another tool creates the copy, such as a policy of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub copy_runtime_info: Option<bool>,
    /// The access of groups, users and service accounts to the tenant's namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"group": "apps-developers", "role": "edit"}]))]
    pub access: Option<Vec<Access>>,
    /// The labels of all objects of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"team": "apps"}))]
    #[schemars(with = "Option<BTreeMap<LabelKey, LabelValue>>")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// The annotations of the tenant's namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"example.com/cost-center": "4711"}))]
    #[schemars(with = "Option<BTreeMap<LabelKey, Text>>")]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// The `spec.hard` of a ResourceQuota in each namespace of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"requests.cpu": "8", "limits.memory": "16Gi"}))]
    #[schemars(with = "Option<BTreeMap<QuotaResource, Quantity>>")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of a LimitRange in each namespace of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"type": "Container", "default": {"memory": "256Mi"}}]))]
    #[schemars(with = "Option<Vec<LimitRangeItem>>")]
    pub limit_range: Option<Vec<Raw>>,
    /// The default network policies of the tenant's namespaces. Additional policies can allow more traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"denyIngress": true, "allowSameNamespace": true}))]
    pub network_policy: Option<NetworkPolicy>,
    /// The Pod Security level of the tenant's namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enforce": "restricted"}))]
    pub pod_security: Option<PodSecurity>,
    /// The admission policies of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"syncSecrets": true, "helm": "oci"}))]
    pub policies: Option<Policies>,
    /// The image automation of the tenant's sources, on clusters with `imageAutomation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"interval": "30m"}))]
    pub image_automation: Option<ImageAutomation>,
    /// The notifications about the tenant's objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "slack", "type": "slack", "channel": "apps", "secret": "slack-url"}]))]
    pub alerts: Option<Vec<Alert>>,
    /// The webhooks that trigger the reconciliation of the tenant's sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "github", "type": "github", "events": ["push"], "secret": "webhook-token"}]))]
    pub receivers: Option<Vec<Receiver>>,
    /// The Kustomization on each cluster that applies the tenant's directory of the fleet repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"interval": "1h"}))]
    pub sync: Option<Reconcile>,
    /// The default settings of the tenant's components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"timeout": "5m"}))]
    pub defaults: Option<ComponentDefaults>,
    /// Free settings for the templates of the layout. They merge key by key. The layout can define their schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"costCenter": "4711"}))]
    pub values: Option<Raw>,
    /// Additional objects of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "motd", "namespace": "backend"}}]))]
    pub objects: Option<Vec<Raw>>,
    /// The kustomize patches on the generated objects of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "GitRepository"}, "patch": [{"op": "add", "path": "/spec/proxySecretRef", "value": {"name": "proxy"}}]}]))]
    pub patches: Option<Vec<Patch>>,
}

/// The permissions of a tenant's service account.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// The name of a ClusterRole. For a confined tenant, defaults to `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"edit")]
    pub cluster_role: Option<String>,
    /// The rules of a generated role, as an alternative to a ClusterRole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]}]))]
    pub rules: Option<Vec<Raw>>,
}

/// The access of a group, a user or a service account to a tenant's namespaces. Set exactly one subject.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The name of a group, as the API server authenticates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"apps-developers")]
    pub group: Option<String>,
    /// The name of a user, as the API server authenticates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"jane@example.com")]
    pub user: Option<String>,
    /// The name of a service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ci")]
    pub service_account: Option<DnsLabel>,
    /// The namespace of the service account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ci-runners")]
    pub namespace: Option<DnsLabel>,
    /// The ClusterRole that the subject has in the namespaces.
    #[schemars(example = &"edit")]
    pub role: String,
    /// The namespaces. Defaults to all namespaces of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["backend"]))]
    pub namespaces: Option<Vec<DnsLabel>>,
}

/// A namespace of a confined tenant. Fields that are not set inherit from the tenant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Namespace {
    /// The name of the namespace.
    #[schemars(example = &"backend")]
    pub name: DnsLabel,
    /// The labels of the namespace, in addition to the labels of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"team": "backend"}))]
    #[schemars(with = "Option<BTreeMap<LabelKey, LabelValue>>")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// The annotations of the namespace, in addition to the annotations of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"example.com/owner": "backend"}))]
    #[schemars(with = "Option<BTreeMap<LabelKey, Text>>")]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// The `spec.hard` of the namespace's ResourceQuota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"limits.memory": "16Gi"}))]
    #[schemars(with = "Option<BTreeMap<QuotaResource, Quantity>>")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of the namespace's LimitRange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"type": "Container", "default": {"memory": "256Mi"}}]))]
    #[schemars(with = "Option<Vec<LimitRangeItem>>")]
    pub limit_range: Option<Vec<Raw>>,
    /// The default network policies of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"denyIngress": true}))]
    pub network_policy: Option<NetworkPolicy>,
    /// The Pod Security level of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enforce": "baseline"}))]
    pub pod_security: Option<PodSecurity>,
}

/// The limits of a LimitRange for one type of object.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitRangeItem {
    /// The type of the objects.
    #[serde(rename = "type")]
    #[schemars(example = &"Container")]
    pub kind: LimitedType,
    /// The minimum of each resource.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"cpu": "10m"}))]
    pub min: BTreeMap<ResourceName, Quantity>,
    /// The maximum of each resource.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"memory": "4Gi"}))]
    pub max: BTreeMap<ResourceName, Quantity>,
    /// The limits of containers that do not set them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"memory": "256Mi"}))]
    pub default: BTreeMap<ResourceName, Quantity>,
    /// The requests of containers that do not set them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"cpu": "100m"}))]
    pub default_request: BTreeMap<ResourceName, Quantity>,
    /// The maximum ratio of the limit to the request of each resource.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"cpu": "4"}))]
    pub max_limit_request_ratio: BTreeMap<ResourceName, Quantity>,
}

/// The type of the objects that a LimitRange limits.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of Kubernetes")]
pub enum LimitedType {
    Container,
    Pod,
    PersistentVolumeClaim,
}

/// The default network policies of a namespace.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicy {
    /// Whether ingress is denied unless a policy allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub deny_ingress: Option<bool>,
    /// Whether egress is denied unless a policy allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub deny_egress: Option<bool>,
    /// Whether pods of the namespace can reach each other if ingress or egress is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub allow_same_namespace: Option<bool>,
    /// The namespaces whose pods can reach the pods of the namespace. Ingress from other namespaces is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["ingress-nginx", "monitoring"]))]
    pub allow_from: Option<Vec<DnsLabel>>,
    /// Whether pods can reach the DNS service of the cluster if egress is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub allow_dns: Option<bool>,
}

/// The Pod Security levels of a namespace, by admission mode.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSecurity {
    /// Pod Security admission rejects pods that violate this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub enforce: Option<PodSecurityLevel>,
    /// Pod Security admission adds an audit annotation for pods that violate this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub audit: Option<PodSecurityLevel>,
    /// Pod Security admission returns a warning for pods that violate this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"restricted")]
    pub warn: Option<PodSecurityLevel>,
}

/// A Pod Security level.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names describe the values")]
pub enum PodSecurityLevel {
    Privileged,
    Baseline,
    Restricted,
}

/// The Kyverno policies of a tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    /// Whether Kyverno copies the tenant's Secrets from the namespace of Flux to the tenant's namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub sync_secrets: Option<bool>,
    /// The Helm sources that the tenant can use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci")]
    pub helm: Option<HelmSources>,
}

/// The Helm sources that a tenant can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HelmSources {
    /// Every HelmRepository.
    Any,
    /// Only `HelmRepository` objects of type `oci`.
    Oci,
}
