//! The installation and the controller settings of Flux.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::Verify;
use crate::fleet::scalar::{DnsLabel, Duration, Patch, Quantity, Text, VersionRange};

/// The installation and the controller settings of Flux.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flux {
    /// The installation method. `operator`: a FluxInstance for the Flux Operator. `bootstrap`: `gotk-*.yaml`, which the Flux CLI writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"bootstrap")]
    pub install: Option<Install>,
    /// The Flux version. The operator also accepts a range of versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<VersionRange>", example = &"2.7.x")]
    pub version: Option<Text>,
    /// The namespace of Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-system")]
    pub namespace: Option<DnsLabel>,
    /// The registry of the Flux images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"ghcr.io/fluxcd")]
    pub registry: Option<String>,
    /// The URL of the OCI artifact with the Flux manifests for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci://registry.example.com/flux-operator-manifests:v0.33.0")]
    pub artifact: Option<String>,
    /// The name of the image pull Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"registry-auth")]
    pub image_pull_secret: Option<DnsLabel>,
    /// The Flux controllers to install. The image automation controllers are added if image automation runs on the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["source-controller", "kustomize-controller"]))]
    pub components: Option<Vec<Controller>>,
    /// Additional controllers, for example `source-watcher`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!(["source-watcher"]))]
    pub extra_components: Option<Vec<Controller>>,
    /// The type of the cluster: `kubernetes`, `openshift`, `aws`, `azure` or `gcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"openshift")]
    pub cluster_type: Option<ClusterType>,
    /// The vertical size profile of the controllers, which the operator applies. Settings in `tuning` override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"medium")]
    pub size: Option<Size>,
    /// The DNS domain of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cluster.local")]
    pub cluster_domain: Option<String>,
    /// Whether tenants are restricted to their namespaces: no cross-namespace references, a default service account and no remote bases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub multitenant: Option<bool>,
    /// The ServiceAccount that Flux impersonates for objects without `spec.serviceAccountName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"default")]
    pub tenant_default_service_account: Option<DnsLabel>,
    /// Whether network policies isolate the namespace of Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub network_policy: Option<bool>,
    /// The ServiceAccount of the clusters' root Kustomizations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"kustomize-controller")]
    pub service_account: Option<DnsLabel>,
    /// The upgrades of the Flux Operator itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"enabled": false}))]
    pub operator: Option<Operator>,
    /// The typed settings of the controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"concurrency": 20}))]
    pub tuning: Option<Tuning>,
    /// The kustomize patches on the objects of Flux. They apply after the patches of the typed settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Deployment", "name": "source-controller"}, "patch": [{"op": "add", "path": "/spec/template/spec/priorityClassName", "value": "system-cluster-critical"}]}]))]
    pub patches: Option<Vec<Patch>>,
}

/// A Flux controller.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names describe the values")]
pub enum Controller {
    SourceController,
    KustomizeController,
    HelmController,
    NotificationController,
    ImageReflectorController,
    ImageAutomationController,
    SourceWatcher,
}

/// The installation method of Flux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Install {
    /// The Flux Operator, which installs Flux from a FluxInstance.
    Operator,
    /// `flux bootstrap`, which writes `gotk-components.yaml` and shares `gotk-sync.yaml` with fleetwright.
    Bootstrap,
}

/// The type of a cluster, with the values of a FluxInstance.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names describe the values")]
pub enum ClusterType {
    Kubernetes,
    Openshift,
    Aws,
    Azure,
    Gcp,
}

/// Whether Flux corrects changes of the objects of a HelmRelease on the cluster.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftDetection {
    /// Flux corrects changes.
    Enabled,
    /// Flux reports changes.
    Warn,
    /// Flux ignores changes.
    Disabled,
}

/// The size of a FluxInstance.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names describe the values")]
pub enum Size {
    Small,
    Medium,
    Large,
}

/// The upgrades of the Flux Operator: a ResourceSet with the Helm chart of the operator.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// Whether the fleet repository upgrades the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub enabled: Option<bool>,
    /// The OCI URL of the operator's Helm chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"oci://registry.example.com/charts/flux-operator")]
    pub chart: Option<String>,
    /// The range of chart versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<VersionRange>", example = &"0.33.x")]
    pub version: Option<Text>,
    /// The signature verification of the chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "cosign"}))]
    pub verify: Option<Verify>,
    /// The strategy after a failed install or upgrade of the chart. If not set, helm-controller does not retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"RetryOnFailure")]
    pub failure_strategy: Option<FailureStrategy>,
    /// Whether Flux corrects changes of the operator's objects on the cluster. If not set, helm-controller ignores them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"enabled")]
    pub drift_detection: Option<DriftDetection>,
}

/// The strategy after a failed install or upgrade of a chart, with the values of a HelmRelease.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum FailureStrategy {
    /// Flux retries the release without a rollback or uninstall, without a limit.
    RetryOnFailure,
    /// Flux remediates the failed release, and retries it up to `remediation.retries` times.
    RemediateOnFailure,
}

/// The settings of the Flux controllers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tuning {
    /// The number of concurrent reconciliations of each controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 20)]
    pub concurrency: Option<u32>,
    /// The interval at which Flux checks the dependencies of an object again.
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
    /// The feature gates, by controller: a mapping of gate names to `true` or `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"helm-controller": {"OOMWatch": true}}))]
    pub feature_gates: Option<BTreeMap<DnsLabel, BTreeMap<String, bool>>>,
    /// Whether kustomize-controller builds in a memory-backed volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub memory_storage: Option<bool>,
    /// Whether kustomizations can load remote bases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub remote_bases: Option<bool>,
}

/// The resource limits of a container.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The CPU limit, as a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2000m")]
    #[schemars(with = "Option<Quantity>")]
    pub cpu: Option<Text>,
    /// The memory limit, as a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2Gi")]
    #[schemars(with = "Option<Quantity>")]
    pub memory: Option<Text>,
}

/// The cache of Helm repository indexes in source-controller.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmCache {
    /// The maximum number of cached indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = 20)]
    pub max_size: Option<u32>,
    /// The time to live of a cached index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"30m")]
    pub ttl: Option<Duration>,
    /// The interval at which expired indexes are removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub purge_interval: Option<Duration>,
}
