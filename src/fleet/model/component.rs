//! Components, stages, and the settings of a Flux Kustomization.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::SourceOverride;
use crate::fleet::scalar::{
    DependsOn, DnsLabel, Duration, LabelKey, LabelValue, Patch, Raw, RepoPath, Text, VariableName,
};

/// A part of a tenant that Flux reconciles separately: one Kustomization, or one Kustomization per stage.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// The name of the component.
    #[schemars(example = &"backend")]
    pub name: DnsLabel,
    /// The namespace of the component. The layout sets the default: in `d1`, the name of the component for a confined tenant, and the namespace of Flux for a platform tenant.
    #[serde(default)]
    #[schemars(example = &"shop")]
    pub namespace: Option<DnsLabel>,
    /// The name of the component's source. Defaults to the tenant's `source`.
    #[serde(default)]
    #[schemars(example = &"charts")]
    pub source: Option<DnsLabel>,
    /// The labels of the component's objects, in addition to the labels of the tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"tier": "web"}))]
    #[schemars(with = "BTreeMap<LabelKey, LabelValue>")]
    pub labels: BTreeMap<String, Text>,
    /// The components that must be ready before this component. An item is `component` or `component/stage` of this tenant, or a mapping that references another tenant. In a component with stages, the first stage waits for them.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["database", {"tenant": "infra", "component": "monitoring", "stage": "controllers"}]))]
    pub depends_on: Vec<DependsOn>,
    /// The stages of the component. Each stage depends on the previous one.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "controllers", "timeout": "10m"}, {"name": "configs", "timeout": "5m"}]))]
    pub stages: Vec<Stage>,
    /// The names of the clusters that run the component, or globs. With `environments`, the clusters of both. Defaults to all clusters of the tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-eu", "staging-*"]))]
    pub clusters: Option<Vec<String>>,
    /// The names of the environments whose clusters run the component, or globs. Defaults to all clusters of the tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["production"]))]
    pub environments: Option<Vec<String>>,
    /// The settings of the component's Kustomization, or the defaults of its stages.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// The default settings of components.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentDefaults {
    /// The namespace of components that do not set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"shop")]
    pub namespace: Option<DnsLabel>,
    /// The settings of Kustomizations.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// The settings of a component or stage on a cluster. They override its own settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentOverride {
    /// The revision and verification of the component's source. All components of the source must set the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"ref": {"tag": "v1.4.0"}}))]
    pub source: Option<SourceOverride>,
    /// The settings of the Kustomization.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// A stage of a component.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// The name of the stage.
    #[schemars(example = &"controllers")]
    pub name: DnsLabel,
    /// The dependencies of the stage, in addition to the previous stage.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["database"]))]
    pub depends_on: Vec<DependsOn>,
    /// The settings of the stage's Kustomization.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// The settings of a Flux Kustomization, with the field names of the Flux API.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconcile {
    /// The path to the directory in the source. `${VAR}` is replaced with a variable of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"components/backend/${ENVIRONMENT}")]
    pub path: Option<RepoPath>,
    /// The interval at which Flux reconciles the Kustomization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"1h")]
    pub interval: Option<Duration>,
    /// The interval at which Flux retries a failed reconciliation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2m")]
    pub retry_interval: Option<Duration>,
    /// The timeout of apply operations and health checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub timeout: Option<Duration>,
    /// Whether the Kustomization becomes ready only when all its objects are ready. Defaults to `true` if another Kustomization depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub wait: Option<bool>,
    /// Whether Flux deletes objects from the cluster that were removed from the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub prune: Option<bool>,
    /// Whether Flux recreates objects with changes to immutable fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub force: Option<bool>,
    /// Whether the reconciliation is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub suspend: Option<bool>,
    /// The policy for the objects when the Kustomization is deleted: `MirrorPrune`, `Delete`, `WaitForTermination` or `Orphan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Orphan")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// The objects that must be healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "backend", "namespace": "shop"}]))]
    pub health_checks: Option<Vec<Raw>>,
    /// The CEL expressions that evaluate the health of custom resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "current": "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"}]))]
    pub health_check_exprs: Option<Vec<Raw>>,
    /// The decryption of encrypted manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "sops", "secret": "sops-age"}))]
    pub decryption: Option<Decryption>,
    /// The kustomize image overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "acme/backend", "newTag": "1.4.0"}]))]
    pub images: Option<Vec<Raw>>,
    /// The kustomize patches on the objects of the Kustomization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Deployment"}, "patch": [{"op": "replace", "path": "/spec/replicas", "value": 2}]}]))]
    pub patches: Option<Vec<Patch>>,
    /// Whether Flux substitutes the cluster's runtime-info variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub substitute: Option<bool>,
    /// Additional variables for substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"REPLICAS": "2"}))]
    pub variables: Option<BTreeMap<VariableName, Text>>,
    /// Whether Flux sets the component's namespace on all objects, for a confined tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub target_namespace: Option<bool>,
    /// Free settings for the templates of the layout. They merge key by key. The layout can define their schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"replicas": 2}))]
    pub values: Option<Raw>,
}

/// The policy for the objects of a deleted Kustomization.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum DeletionPolicy {
    MirrorPrune,
    Delete,
    WaitForTermination,
    Orphan,
}

/// The decryption of manifests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decryption {
    /// The decryption provider: `sops`.
    #[schemars(example = &"sops")]
    pub provider: DecryptionProvider,
    /// The name of the Secret with the decryption keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"sops-age")]
    pub secret: Option<DnsLabel>,
}

/// The provider that decrypts manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum DecryptionProvider {
    Sops,
}
