//! Clusters and environments.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flux::Flux;
use crate::fleet::scalar::{ComponentPath, DnsLabel, Patch, Raw, RepoPath, Text, VariableName};

/// A cluster.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its name; also the name of its folder.
    #[schemars(example = &"prod-eu")]
    pub name: DnsLabel,
    /// The environment that it belongs to.
    #[schemars(example = &"production")]
    pub environment: DnsLabel,
    /// Everything that an environment can say too.
    #[serde(flatten)]
    pub settings: ClusterSettings,
}

/// What an environment or a cluster says.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSettings {
    /// The branch of the tenants' sources that runs here, as variable `GIT_BRANCH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"production")]
    pub source_branch: Option<String>,
    /// The branch of the fleet repository that the cluster syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"main")]
    pub branch: Option<String>,
    /// The folder of the fleet repository that the cluster syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"clusters/prod-eu")]
    pub path: Option<RepoPath>,
    /// Variables for substitution: the data of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"CLUSTER_DOMAIN": "eu.example.com"}))]
    pub runtime_info: BTreeMap<VariableName, Text>,
    /// Name, labels and annotations of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"name": "flux-runtime-info"}))]
    pub runtime_info_metadata: Option<ObjectMetadata>,
    /// Whether image automation runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub image_automation: Option<bool>,
    /// The tenants that run here; all of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra", "apps"]))]
    pub tenants: Option<Vec<DnsLabel>>,
    /// Components that do not run here, as `tenant/component`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["infra/monitoring"]))]
    pub without_components: Option<Vec<ComponentPath>>,
    /// How Flux differs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"version": "2.8.x"}))]
    pub flux: Option<Flux>,
    /// The version of Kubernetes that runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"1.34")]
    pub kubernetes_version: Option<Text>,
    /// Whether Flux leaves the tenants of this cluster as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub suspend: Option<bool>,
    /// Patches on what the tenants' Kustomizations bring to this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Kustomization", "name": "monitoring"}, "patch": [{"op": "replace", "path": "/spec/interval", "value": "10m"}]}]))]
    pub patches: Option<Vec<Patch>>,
    /// Further objects for this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "zone", "namespace": "flux-system"}, "data": {"zone": "eu-1"}}]))]
    pub objects: Option<Vec<Raw>>,
}

/// Name, labels and annotations of an object.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectMetadata {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-runtime-info")]
    pub name: Option<DnsLabel>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"team": "platform"}))]
    pub labels: BTreeMap<String, Text>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(example = serde_json::json!({"example.com/owner": "platform"}))]
    pub annotations: BTreeMap<String, Text>,
}
