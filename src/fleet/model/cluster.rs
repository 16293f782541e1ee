//! Clusters and environments.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::component::ComponentOverride;
use super::flux::Flux;
use crate::fleet::scalar::{
    ComponentPath, ComponentTarget, DnsLabel, LabelKey, LabelValue, Patch, Raw, RepoPath, Text, VariableName,
    VersionRange,
};

/// A Kubernetes cluster.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// The name of the cluster. It is also the name of the cluster's directory.
    #[schemars(example = &"prod-eu")]
    pub name: DnsLabel,
    /// The environment of the cluster. Required unless the layout sets a default.
    #[serde(default)]
    #[schemars(example = &"production")]
    pub environment: Option<DnsLabel>,
    /// The settings that an environment can also set.
    #[serde(flatten)]
    pub settings: ClusterSettings,
}

/// The settings of a cluster, which an environment can also set.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSettings {
    /// The branch of the tenants' sources for this cluster. Manifests can use it as the variable `GIT_BRANCH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"production")]
    pub source_branch: Option<String>,
    /// The name of the repository that the cluster syncs. Defaults to `fleet`, the repository of fleet.yaml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"workloads")]
    pub repository: Option<DnsLabel>,
    /// The branch of the repository that the cluster syncs. Defaults to the branch of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// The directory of the repository that the cluster syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"clusters/prod-eu")]
    pub path: Option<RepoPath>,
    /// The variables for substitution: the data of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"CLUSTER_DOMAIN": "eu.example.com"}))]
    pub runtime_info: BTreeMap<VariableName, Text>,
    /// The name, labels and annotations of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"name": "flux-runtime-info"}))]
    pub runtime_info_metadata: Option<ObjectMetadata>,
    /// Whether image automation runs on the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub image_automation: Option<bool>,
    /// The tenants that run on the cluster. Defaults to all tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra", "apps"]))]
    pub tenants: Option<Vec<DnsLabel>>,
    /// The components that do not run on the cluster, as `tenant/component`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra/monitoring"]))]
    pub without_components: Option<Vec<ComponentPath>>,
    /// The settings of components and stages on the cluster, by `tenant/component` or `tenant/component/stage`. They override the component's own settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"apps/backend": {"interval": "10m", "source": {"ref": {"tag": "v1.4.0"}}}}))]
    pub components: Option<BTreeMap<ComponentTarget, ComponentOverride>>,
    /// The Flux settings of the cluster. They override the settings of the fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"version": "2.8.x"}))]
    pub flux: Option<Flux>,
    /// The Kubernetes version of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<VersionRange>", example = &"1.34")]
    pub kubernetes_version: Option<Text>,
    /// Whether the reconciliation of the cluster's tenants is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub suspend: Option<bool>,
    /// The kustomize patches on objects that the tenants' Kustomizations apply to the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Kustomization", "name": "monitoring"}, "patch": [{"op": "replace", "path": "/spec/interval", "value": "10m"}]}]))]
    pub patches: Option<Vec<Patch>>,
    /// Free settings for the templates of the layout. They merge key by key. The layout can define their schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"region": "eu-west-1"}))]
    pub values: Option<Raw>,
    /// The built-in admission policies of the cluster, by name; `fleetwright policy list` prints the names. The layout renders them with the other objects of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"no-latest-image": {}, "allowed-registries": {"parameters": {"registries": "ghcr.io/acme"}}}))]
    pub policies: Option<BTreeMap<String, Option<PolicySettings>>>,
    /// Additional objects to apply to the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "zone", "namespace": "flux-system"}, "data": {"zone": "eu-1"}}]))]
    pub objects: Option<Vec<Raw>>,
}

/// The settings of a built-in admission policy.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicySettings {
    /// The values of the policy's parameters. Defaults to the values that `fleetwright policy show` prints.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"registries": "ghcr.io/acme"}))]
    pub parameters: BTreeMap<String, Text>,
    /// The reaction to a violation: `Deny`, `Warn` or `Audit`. Defaults to `Deny`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Warn")]
    pub action: Option<PolicyAction>,
}

/// The reaction of the API server to a violation of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Kubernetes'")]
pub enum PolicyAction {
    Deny,
    Warn,
    Audit,
}

/// The name, labels and annotations of an object.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectMetadata {
    /// The name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-runtime-info")]
    pub name: Option<DnsLabel>,
    /// The labels of the object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"team": "platform"}))]
    #[schemars(with = "BTreeMap<LabelKey, LabelValue>")]
    pub labels: BTreeMap<String, Text>,
    /// The annotations of the object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"example.com/owner": "platform"}))]
    #[schemars(with = "BTreeMap<LabelKey, Text>")]
    pub annotations: BTreeMap<String, Text>,
}
