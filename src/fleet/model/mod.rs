//! The words of fleet.yaml: what a person writes, and what the schemas are generated from.
//!
//! Every setting that can be inherited is optional here; merging fills it before the types are decoded. The types with
//! flattened settings are for the schemas only: serde buffers what it flattens and would lose how a scalar was written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod automation;
mod component;
mod source;
mod flux;
mod cluster;
mod tenant;

pub use automation::{Alert, AlertKind, AlertSeverity, Author, ImageAutomation, Receiver, ReceiverKind};
pub use cluster::{Cluster, ClusterSettings, ObjectMetadata};
pub use component::{Component, Decryption, DecryptionProvider, DeletionPolicy, Reconcile, Stage};
pub use flux::{ClusterType, Controller, Flux, HelmCache, Install, Limits, Operator, Size, Tuning};
pub use source::{Provider, SignedPart, Signer, Source, SourceOverride, SourceRef, Verify};
pub use tenant::{
    Access, Bind, HelmSources, Namespace, NetworkPolicy, PodSecurity, PodSecurityLevel, Policies, Role, Tenant,
    TenantSettings,
};

use super::scalar::{DnsLabel, Duration};

/// The fleet: what the clusters are, who the tenants are, and what of theirs runs where.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// `fleetwright.dev/v1alpha1`.
    #[schemars(example = &"fleetwright.dev/v1alpha1")]
    pub api_version: crate::config::ApiVersion,
    /// `Fleet`.
    #[schemars(example = &"Fleet")]
    pub kind: FleetKind,
    /// The fleet's name.
    #[schemars(example = &"acme")]
    pub name: DnsLabel,
    /// A built-in layout, or the path of a folder with one of your own (it starts with `./`).
    #[serde(default = "default_layout")]
    #[schemars(example = &"./layouts/mine")]
    pub layout: String,
    /// The repository that this file lies in: what the clusters sync from.
    #[schemars(example = serde_json::json!({"url": "https://github.com/acme/fleet.git", "branch": "main", "secret": "flux-system"}))]
    pub repository: Repository,
    /// How Flux is installed; an environment or a cluster may differ.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"install": "operator", "version": "2.7.x"}))]
    pub flux: Option<Flux>,
    /// What clusters share; a cluster overrides any of it.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"staging": {"sourceBranch": "main", "imageAutomation": true}, "production": {"sourceBranch": "production"}}))]
    pub environments: BTreeMap<DnsLabel, ClusterSettings>,
    /// Settings for every cluster, tenant and component that does not say otherwise.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"component": {"interval": "1h"}}))]
    pub defaults: Option<Defaults>,
    /// The clusters.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "prod-eu", "environment": "production"}]))]
    pub clusters: Vec<Cluster>,
    /// The tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "apps", "role": "tenant", "source": {"url": "https://github.com/acme/apps.git"}, "components": [{"name": "backend"}]}]))]
    pub tenants: Vec<Tenant>,
    /// Files that hold further clusters and tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"tenants": ["fleet/tenants/*.yaml"]}))]
    pub include: Option<Include>,
    /// How the linter judges the repository that this file renders.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"exceptions": [{"rule": "missing-prune", "reason": "the data must survive its Kustomization", "objects": ["Kustomization/db/*"]}]}))]
    pub lint: Option<crate::config::Lint>,
}

/// The layout of a fleet that names none.
pub(super) const DEFAULT_LAYOUT: &str = "d1";

fn default_layout() -> String {
    DEFAULT_LAYOUT.into()
}

/// The kind of a fleet.yaml.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub enum FleetKind {
    /// The only one.
    Fleet,
}

/// The fleet repository itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// Its URL as Flux fetches it: `https://…` or `ssh://…`; `oci://…` for an artifact that is pushed from it.
    #[schemars(extend("format" = "source-url"))]
    #[schemars(example = &"https://github.com/acme/fleet.git")]
    pub url: String,
    /// The branch that clusters sync, or the tag of an artifact; an environment or a cluster may differ.
    #[serde(default = "default_branch")]
    #[schemars(example = &"main")]
    pub branch: String,
    /// The Secret with the credentials, in Flux's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-system")]
    pub secret: Option<DnsLabel>,
    /// Who proves who we are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"azure")]
    pub provider: Option<Provider>,
    /// How often Flux looks for a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"1m")]
    pub interval: Option<Duration>,
}

fn default_branch() -> String {
    "main".into()
}

/// Settings below the fleet that others inherit.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Defaults {
    /// For every cluster; its environment overrides them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"kubernetesVersion": "1.34"}))]
    pub cluster: Option<ClusterSettings>,
    /// For every tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"podSecurity": {"enforce": "baseline"}}))]
    pub tenant: Option<TenantSettings>,
    /// For every component and stage; the tenant's `defaults` override them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"interval": "1h", "retryInterval": "2m"}))]
    pub component: Option<Reconcile>,
}

/// Files that hold further clusters and tenants: one of them per document, with the fields of a list item here.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Include {
    /// Globs of files with clusters, relative to this file.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["fleet/clusters/*.yaml"]))]
    pub clusters: Vec<String>,
    /// Globs of files with tenants, relative to this file.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["fleet/tenants/*.yaml"]))]
    pub tenants: Vec<String>,
}
