//! How Flux is installed and tuned.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::Verify;
use crate::fleet::scalar::{DnsLabel, Duration, Patch, Text};

/// How Flux is installed and tuned.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flux {
    /// `operator`: a FluxInstance for the Flux Operator. `bootstrap`: `gotk-*.yaml`, written by the flux CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"bootstrap")]
    pub install: Option<Install>,
    /// The version, or a range of versions for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2.7.x")]
    pub version: Option<Text>,
    /// The namespace that Flux runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-system")]
    pub namespace: Option<DnsLabel>,
    /// The registry that its images come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ghcr.io/fluxcd")]
    pub registry: Option<String>,
    /// The OCI artifact with the operator's manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci://registry.example.com/flux-operator-manifests:v0.33.0")]
    pub artifact: Option<String>,
    /// The Secret that the images are pulled with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"registry-auth")]
    pub image_pull_secret: Option<DnsLabel>,
    /// The controllers; those of image automation are added where a cluster runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["source-controller", "kustomize-controller"]))]
    pub components: Option<Vec<Controller>>,
    /// Controllers beside those, for example `source-watcher`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["source-watcher"]))]
    pub extra_components: Option<Vec<Controller>>,
    /// What kind of cluster it is: `kubernetes`, `openshift`, `aws`, `azure` or `gcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"openshift")]
    pub cluster_type: Option<ClusterType>,
    /// The vertical size that the operator gives the controllers; what `tuning` says goes over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"medium")]
    pub size: Option<Size>,
    /// The DNS domain inside the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cluster.local")]
    pub cluster_domain: Option<String>,
    /// Whether tenants are locked into their namespaces: no references across them, a default account, no remote bases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub multitenant: Option<bool>,
    /// The ServiceAccount that Flux impersonates where an object names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"default")]
    pub tenant_default_service_account: Option<DnsLabel>,
    /// Whether network policies isolate Flux's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub network_policy: Option<bool>,
    /// The ServiceAccount of the clusters' root Kustomizations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"kustomize-controller")]
    pub service_account: Option<DnsLabel>,
    /// The Flux Operator's own upgrades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enabled": false}))]
    pub operator: Option<Operator>,
    /// Typed settings of the controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"concurrency": 20}))]
    pub tuning: Option<Tuning>,
    /// kustomize patches on Flux's own objects, after the typed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Deployment", "name": "source-controller"}, "patch": [{"op": "add", "path": "/spec/template/spec/priorityClassName", "value": "system-cluster-critical"}]}]))]
    pub patches: Option<Vec<Patch>>,
}

/// A controller of Flux.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Controller {
    SourceController,
    KustomizeController,
    HelmController,
    NotificationController,
    ImageReflectorController,
    ImageAutomationController,
    SourceWatcher,
}

/// Who installs Flux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Install {
    /// The Flux Operator, from a FluxInstance.
    Operator,
    /// `flux bootstrap`, which writes `gotk-components.yaml` and shares `gotk-sync.yaml`.
    Bootstrap,
}

/// What kind of cluster it is, as a FluxInstance names it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ClusterType {
    Kubernetes,
    Openshift,
    Aws,
    Azure,
    Gcp,
}

/// The size of a FluxInstance.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Size {
    Small,
    Medium,
    Large,
}

/// How the Flux Operator keeps itself current: a ResourceSet with its chart.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// Whether the repository upgrades the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub enabled: Option<bool>,
    /// The OCI address of its chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci://registry.example.com/charts/flux-operator")]
    pub chart: Option<String>,
    /// The range of chart versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"0.33.x")]
    pub version: Option<Text>,
    /// Who must have signed the chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "cosign"}))]
    pub verify: Option<Verify>,
    /// What follows a failed install or upgrade of the chart; without it, helm-controller tries once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"RetryOnFailure")]
    pub failure_strategy: Option<FailureStrategy>,
}

/// What follows a failed install or upgrade of a chart, as a HelmRelease names it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum FailureStrategy {
    /// It is tried again in place, without end.
    RetryOnFailure,
    /// What failed is taken back, and tried again as often as `remediation.retries` says.
    RemediateOnFailure,
}

/// Settings of the controllers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tuning {
    /// How many objects each controller reconciles at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 20)]
    pub concurrency: Option<u32>,
    /// How long an object waits before its dependencies are looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5s")]
    pub requeue_dependency: Option<Duration>,
    /// The resource limits of the main controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"memory": "2Gi"}))]
    pub limits: Option<Limits>,
    /// The cache of Helm repository indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"maxSize": 20}))]
    pub helm_cache: Option<HelmCache>,
    /// Feature gates: controller → gate → on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"helm-controller": {"OOMWatch": true}}))]
    pub feature_gates: Option<BTreeMap<DnsLabel, BTreeMap<String, bool>>>,
    /// Whether kustomize-controller builds in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub memory_storage: Option<bool>,
    /// Whether kustomizations may load bases from URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub remote_bases: Option<bool>,
}

/// Resource limits of a container.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// CPU, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2000m")]
    pub cpu: Option<Text>,
    /// Memory, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2Gi")]
    pub memory: Option<Text>,
}

/// source-controller's cache of Helm repository indexes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmCache {
    /// How many indexes it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 20)]
    pub max_size: Option<u32>,
    /// How long it holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"30m")]
    pub ttl: Option<Duration>,
    /// How often it drops old ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub purge_interval: Option<Duration>,
}
