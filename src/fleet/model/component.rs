//! Components, stages, and the settings of a Flux Kustomization.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fleet::scalar::{DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};

/// A part of a tenant that is reconciled on its own: one Kustomization, or one for each of its stages.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// Its name.
    #[schemars(example = &"backend")]
    pub name: DnsLabel,
    /// The namespace of a confined tenant that it runs in; its own name when left out.
    #[serde(default)]
    #[schemars(example = &"shop")]
    pub namespace: Option<DnsLabel>,
    /// The name of the source that it comes from; the tenant's `source` when left out.
    #[serde(default)]
    #[schemars(example = &"charts")]
    pub source: Option<DnsLabel>,
    /// Labels of what it brings, beside its tenant's.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"tier": "web"}))]
    pub labels: BTreeMap<String, Text>,
    /// What must be ready first: components (or `component/stage`) of the tenant, or of another one. The first of its stages waits for it.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["database", {"tenant": "infra", "component": "monitoring", "stage": "controllers"}]))]
    pub depends_on: Vec<DependsOn>,
    /// Stages that follow one another, each waiting for the one before.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "controllers", "timeout": "10m"}, {"name": "configs", "timeout": "5m"}]))]
    pub stages: Vec<Stage>,
    /// Settings for its stages, or its own.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// A stage of a component.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Its name.
    #[schemars(example = &"controllers")]
    pub name: DnsLabel,
    /// What must be ready first, beside the stage before it.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["database"]))]
    pub depends_on: Vec<DependsOn>,
    /// Its settings.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// The settings of a Flux Kustomization, by the names of its fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconcile {
    /// The folder of the source; `${VAR}` stands for a variable of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"components/backend/${ENVIRONMENT}")]
    pub path: Option<RepoPath>,
    /// How often it is reconciled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"1h")]
    pub interval: Option<Duration>,
    /// How soon a failed one is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2m")]
    pub retry_interval: Option<Duration>,
    /// How long applying and the health checks may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"5m")]
    pub timeout: Option<Duration>,
    /// Whether it is ready only when all that it applied is; follows from being depended on when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub wait: Option<bool>,
    /// Whether what leaves the source is deleted from the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub prune: Option<bool>,
    /// Whether objects that cannot be changed are made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    pub force: Option<bool>,
    /// Whether it rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub suspend: Option<bool>,
    /// What happens to its objects when it is deleted: `MirrorPrune`, `Delete`, `WaitForTermination` or `Orphan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Orphan")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Objects that must be healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "backend", "namespace": "shop"}]))]
    pub health_checks: Option<Vec<Raw>>,
    /// CEL expressions for the health of custom resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "current": "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"}]))]
    pub health_check_exprs: Option<Vec<Raw>>,
    /// How encrypted manifests are decrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"provider": "sops", "secret": "sops-age"}))]
    pub decryption: Option<Decryption>,
    /// kustomize image overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"name": "acme/backend", "newTag": "1.4.0"}]))]
    pub images: Option<Vec<Raw>>,
    /// kustomize patches on what it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!([{"target": {"kind": "Deployment"}, "patch": [{"op": "replace", "path": "/spec/replicas", "value": 2}]}]))]
    pub patches: Option<Vec<Patch>>,
    /// Whether the cluster's runtime-info is substituted in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub substitute: Option<bool>,
    /// Further variables for substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({"REPLICAS": "2"}))]
    pub variables: Option<BTreeMap<VariableName, Text>>,
    /// Whether a confined component's objects are all put into its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = true)]
    pub target_namespace: Option<bool>,
}

/// What deleting a Kustomization does to its objects.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum DeletionPolicy {
    MirrorPrune,
    Delete,
    WaitForTermination,
    Orphan,
}

/// Decryption of manifests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decryption {
    /// `sops`.
    #[schemars(example = &"sops")]
    pub provider: DecryptionProvider,
    /// The Secret with the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"sops-age")]
    pub secret: Option<DnsLabel>,
}

/// What decrypts manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are Flux's")]
pub enum DecryptionProvider {
    Sops,
}
