//! The fields of fleet.yaml, as users write them. The JSON Schemas are generated from these types.
//!
//! Inheritable settings are optional here; merging fills them before the types are decoded. The types with flattened
//! settings serve the schemas only: serde buffers flattened fields and would lose the spelling of scalars.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod automation;
mod source;
mod component;
mod flux;
mod cluster;
mod tenant;
mod layout;
mod include;

pub use automation::{Alert, AlertKind, AlertSeverity, Author, ImageAutomation, Receiver, ReceiverKind};
pub use cluster::{Cluster, ClusterSettings, ObjectMetadata, PolicyAction, PolicySettings};
pub use component::{
    Component, ComponentDefaults, ComponentOverride, Decryption, DecryptionProvider, DeletionPolicy, Reconcile, Stage,
};
pub use flux::{ClusterType, Controller, Flux, HelmCache, Install, Limits, Operator, Size, Tuning};
pub use include::{Allow, AllowedNames, AllowedNamespaces, Include, Includes};
pub use layout::{LayoutFile, Root};
pub use source::{Provider, SignedPart, Signer, Source, SourceOverride, SourceRef, Verify};
pub use tenant::{
    Access, Bind, HelmSources, LimitRangeItem, LimitedType, Namespace, NetworkPolicy, PodSecurity, PodSecurityLevel,
    Policies, Role, Tenant, TenantSettings,
};

use super::scalar::{DnsLabel, Duration, Raw, RepoPath};

/// A fleet: its clusters, its tenants, and the placement of tenants on clusters.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// The API version: `fleetwright.dev/v1alpha1`.
    #[schemars(example = &"fleetwright.dev/v1alpha1")]
    pub api_version: crate::config::ApiVersion,
    /// The kind: `Fleet`.
    #[schemars(example = &"Fleet")]
    pub kind: FleetKind,
    /// The name of the fleet.
    #[schemars(example = &"acme")]
    pub name: DnsLabel,
    /// The layout: the name of a built-in layout, or a path to a directory that starts with `./`.
    #[serde(default = "default_layout")]
    #[schemars(example = &"./layouts/mine")]
    pub layout: String,
    /// The repository of this file, which the clusters sync.
    #[schemars(example = serde_json::json!({"url": "https://github.com/acme/fleet.git", "branch": "main", "secret": "flux-system"}))]
    pub repository: Repository,
    /// Further repositories, by name. Clusters and sources reference them. The name `fleet` is that of `repository`.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"workloads": {"url": "https://github.com/acme/workloads.git", "path": "repositories/workloads"}}))]
    pub repositories: BTreeMap<DnsLabel, Repository>,
    /// The installation of Flux. Environments and clusters can override it.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"install": "operator", "version": "2.7.x"}))]
    pub flux: Option<Flux>,
    /// The environments, with the settings that their clusters share. A cluster can override them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"staging": {"sourceBranch": "main", "imageAutomation": true}, "production": {"sourceBranch": "production"}}))]
    pub environments: BTreeMap<DnsLabel, ClusterSettings>,
    /// The default settings of clusters, tenants and components.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"component": {"interval": "1h"}}))]
    pub defaults: Option<Defaults>,
    /// The clusters of the fleet.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "prod-eu", "environment": "production"}]))]
    pub clusters: Vec<Cluster>,
    /// The tenants of the fleet.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"name": "apps", "role": "tenant", "source": {"url": "https://github.com/acme/apps.git"}, "components": [{"name": "backend"}]}]))]
    pub tenants: Vec<Tenant>,
    /// The files with additional clusters and tenants: one entry, or a list of entries with different restrictions.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"tenants": ["fleet/tenants/*.yaml"]}), example = serde_json::json!([{"tenants": "teams/*.yaml", "allow": {"sources": ["https://github.com/acme/*"]}}]))]
    pub include: Option<Includes>,
    /// Free settings for the templates of the layout. The layout can define their schema.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"organization": "acme"}))]
    pub values: Option<Raw>,
    /// The configuration of the linter for the rendered repository.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"exceptions": [{"rule": "missing-prune", "reason": "the data must survive its Kustomization", "objects": ["Kustomization/db/*"]}]}))]
    pub lint: Option<crate::config::Lint>,
}

/// The name of the file that configures a layout.
pub const MANIFEST: &str = "layout.yaml";
/// The example fleet.yaml of a built-in layout, which is not a template.
pub const EXAMPLE: &str = "_init.yaml";
/// The layout of a fleet that does not set one.
pub const DEFAULT_LAYOUT: &str = "d1";

fn default_layout() -> String {
    DEFAULT_LAYOUT.into()
}

/// The kind of fleet.yaml.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub enum FleetKind {
    /// The only kind.
    Fleet,
}

/// A repository that Flux syncs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The URL from which Flux fetches the repository: `https://…` or `ssh://…`, or `oci://…` for an OCI artifact.
    #[schemars(extend("format" = "source-url"))]
    #[schemars(example = &"https://github.com/acme/fleet.git")]
    pub url: String,
    /// The branch, or the tag of an OCI artifact, that clusters sync. Environments and clusters can override it.
    #[serde(default = "default_branch")]
    #[schemars(example = &"main")]
    pub branch: String,
    /// The directory of the rendered files that is the root of the repository. Defaults to the directory of all rendered files for `repository`. A repository without a `path` is not rendered; only sources can reference it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"repositories/workloads")]
    pub path: Option<RepoPath>,
    /// The name of the Secret with the credentials, in the namespace of Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-system")]
    pub secret: Option<DnsLabel>,
    /// The provider that authenticates Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"azure")]
    pub provider: Option<Provider>,
    /// The interval at which Flux checks for updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"1m")]
    pub interval: Option<Duration>,
}

/// The branch of a repository that does not set one.
pub(super) const DEFAULT_BRANCH: &str = "main";

fn default_branch() -> String {
    DEFAULT_BRANCH.into()
}

/// The default settings of clusters, tenants and components.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Defaults {
    /// The defaults of every cluster. The environment of a cluster overrides them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"kubernetesVersion": "1.34"}))]
    pub cluster: Option<ClusterSettings>,
    /// The defaults of every tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"podSecurity": {"enforce": "baseline"}}))]
    pub tenant: Option<TenantSettings>,
    /// The defaults of every component and stage. The `defaults` of a tenant override them.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"interval": "1h", "retryInterval": "2m"}))]
    pub component: Option<ComponentDefaults>,
}
