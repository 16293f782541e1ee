//! The words of fleet.yaml: what a person writes, and what `schemas/fleet.schema.json` is generated from.
//!
//! Every setting that can be inherited is optional here; merging fills it before the types are decoded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalar::{DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};

/// The fleet: what the clusters are, who the tenants are, and what of theirs runs where.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// `fleetwright.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// `Fleet`.
    pub kind: FleetKind,
    /// The fleet's name.
    pub name: DnsLabel,
    /// A built-in layout, or the path of a folder with one of your own (it starts with `./`).
    #[serde(default = "default_layout")]
    pub layout: String,
    /// The repository that this file lies in: what the clusters sync from.
    pub repository: Repository,
    /// How Flux is installed; an environment or a cluster may differ.
    #[serde(default)]
    pub flux: Flux,
    /// What clusters share; a cluster overrides any of it.
    #[serde(default)]
    pub environments: BTreeMap<DnsLabel, ClusterSettings>,
    /// Settings for every cluster, tenant and component that does not say otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// The clusters.
    #[serde(default)]
    pub clusters: Vec<Cluster>,
    /// The tenants.
    #[serde(default)]
    pub tenants: Vec<Tenant>,
    /// Files that hold further clusters and tenants.
    #[serde(default)]
    pub include: Include,
    /// How the linter judges the repository that this file renders.
    #[serde(default)]
    pub lint: crate::config::Lint,
}

fn default_layout() -> String {
    "d1".into()
}

/// The version of the language.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first.
    #[serde(rename = "fleetwright.dev/v1alpha1")]
    V1Alpha1,
}

/// The kind of a fleet.yaml.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum FleetKind {
    /// The only one.
    Fleet,
}

/// The fleet repository itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// Its URL as Flux fetches it: `https://…` or `ssh://…`; `oci://…` for an artifact that is pushed from it.
    pub url: String,
    /// The branch that clusters sync; an environment or a cluster may differ.
    #[serde(default = "default_branch")]
    pub branch: String,
    /// The Secret with the credentials, in Flux's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<DnsLabel>,
    /// How often Flux looks for a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
}

fn default_branch() -> String {
    "main".into()
}

/// How Flux is installed and tuned.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flux {
    /// `operator`: a FluxInstance for the Flux Operator. `bootstrap`: `gotk-*.yaml`, written by the flux CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<Install>,
    /// The version, or a range of versions for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// The namespace that Flux runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<DnsLabel>,
    /// The registry that its images come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The OCI artifact with the operator's manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// The Secret that the images are pulled with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_secret: Option<DnsLabel>,
    /// The controllers; those of image automation are added where a cluster runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<DnsLabel>>,
    /// Controllers beside those, for example `source-watcher`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_components: Option<Vec<DnsLabel>>,
    /// What kind of cluster it is: `kubernetes`, `openshift`, `aws`, `azure` or `gcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<ClusterType>,
    /// The vertical size that the operator gives the controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// The DNS domain inside the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_domain: Option<String>,
    /// Whether tenants are locked into their namespaces: no references across them, a default account, no remote bases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multitenant: Option<bool>,
    /// The ServiceAccount that Flux impersonates where an object names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_default_service_account: Option<DnsLabel>,
    /// Whether network policies isolate Flux's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<bool>,
    /// The ServiceAccount of the clusters' root Kustomizations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<DnsLabel>,
    /// The Flux Operator's own upgrades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<Operator>,
    /// Typed settings of the controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// kustomize patches on Flux's own objects, after the typed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Patch>>,
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
    pub enabled: Option<bool>,
    /// The OCI address of its chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<String>,
    /// The range of chart versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// Who must have signed the chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
}

/// Settings of the controllers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tuning {
    /// How many objects each controller reconciles at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How long an object waits before its dependencies are looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requeue_dependency: Option<Duration>,
    /// The resource limits of the main controllers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// The cache of Helm repository indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm_cache: Option<HelmCache>,
    /// Feature gates: controller → gate → on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_gates: Option<BTreeMap<DnsLabel, BTreeMap<String, bool>>>,
    /// Whether kustomize-controller builds in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_storage: Option<bool>,
    /// Whether kustomizations may load bases from URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_bases: Option<bool>,
}

/// Resource limits of a container.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// CPU, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Text>,
    /// Memory, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Text>,
}

/// source-controller's cache of Helm repository indexes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HelmCache {
    /// How many indexes it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// How long it holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
    /// How often it drops old ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_interval: Option<Duration>,
}

/// Settings below the fleet that others inherit.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Defaults {
    /// For every cluster; its environment overrides them.
    #[serde(default)]
    pub cluster: ClusterSettings,
    /// For every tenant.
    #[serde(default)]
    pub tenant: TenantSettings,
    /// For every component and stage; the tenant's `defaults` override them.
    #[serde(default)]
    pub component: Reconcile,
}

/// Files that hold further clusters and tenants: one of them per document, with the fields of a list item here.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Include {
    /// Globs of files with clusters, relative to this file.
    #[serde(default)]
    pub clusters: Vec<String>,
    /// Globs of files with tenants, relative to this file.
    #[serde(default)]
    pub tenants: Vec<String>,
}

/// A cluster.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its name; also the name of its folder.
    pub name: DnsLabel,
    /// The environment that it belongs to.
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
    pub source_branch: Option<String>,
    /// The branch of the fleet repository that the cluster syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The folder of the fleet repository that the cluster syncs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// Variables for substitution: the data of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runtime_info: BTreeMap<VariableName, Text>,
    /// Name, labels and annotations of the runtime-info ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_info_metadata: Option<ObjectMetadata>,
    /// Whether image automation runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_automation: Option<bool>,
    /// The tenants that run here; all of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<DnsLabel>>,
    /// Components that do not run here, as `tenant/component`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_components: Option<Vec<String>>,
    /// How Flux differs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flux: Option<Flux>,
    /// The version of Kubernetes that runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<Text>,
    /// Whether Flux leaves the tenants of this cluster as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Patches on what the tenants' Kustomizations bring to this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Patch>>,
    /// Further objects for this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<Raw>>,
}

/// Name, labels and annotations of an object.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectMetadata {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DnsLabel>,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Text>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, Text>,
}

/// A tenant: somebody whose repositories the clusters run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Its name.
    pub name: DnsLabel,
    /// `platform`: reconciled as cluster admin, in Flux's namespace. `tenant`: confined to its namespaces.
    pub role: Role,
    /// Where its components come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Further sources, which components choose by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What of it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
    /// Its namespaces, where they need more than a component's `namespace` says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    pub depends_on: Option<Vec<DnsLabel>>,
    /// The ServiceAccount that reconciles it in each of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<DnsLabel>,
    /// What that account may do there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<Bind>,
    /// Whether the HelmReleases and Kustomizations inside get the tenant's account, whatever they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforce_service_account: Option<bool>,
    /// People's access to its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Vec<Access>>,
    /// Labels of everything that it brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// Annotations of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// What each of its namespaces may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of a LimitRange in each of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_range: Option<Vec<Raw>>,
    /// The traffic that its namespaces let in and out unless a policy of their own allows more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
    /// The Pod Security level of its namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_security: Option<PodSecurity>,
    /// Admission policies of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Policies>,
    /// Updates of image tags in its sources, on the clusters that run image automation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_automation: Option<ImageAutomation>,
    /// Notifications about what it reconciles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alerts: Option<Vec<Alert>>,
    /// Webhooks that make its sources reconcile at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receivers: Option<Vec<Receiver>>,
    /// The Kustomization on each cluster that brings the tenant itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Reconcile>,
    /// Settings for its components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Reconcile>,
    /// Further objects beside the generated ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<Raw>>,
    /// kustomize patches on the generated objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Patch>>,
}

/// What the tenant's account may do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// A ClusterRole; `admin` of the namespace when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_role: Option<String>,
    /// The rules of a Role of its own, instead of a ClusterRole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Raw>>,
}

/// Access of people to a tenant's namespaces.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The group, as the cluster's authentication names it.
    pub group: String,
    /// The ClusterRole that it gets in the namespaces.
    pub role: String,
    /// The namespaces; all of the tenant's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<DnsLabel>>,
}

/// The traffic of a namespace.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicy {
    /// Whether nothing comes in but what a policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny_ingress: Option<bool>,
    /// Whether nothing goes out but what a policy allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny_egress: Option<bool>,
    /// Whether pods of the namespace reach each other all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_same_namespace: Option<bool>,
    /// Whether pods reach the cluster's DNS all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_dns: Option<bool>,
}

/// Pod Security admission.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSecurity {
    /// Pods above this level are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforce: Option<PodSecurityLevel>,
    /// Pods above this level are logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<PodSecurityLevel>,
    /// Pods above this level make a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub sync_secrets: Option<bool>,
    /// Which Helm sources are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmSources>,
}

/// Which Helm sources a tenant may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HelmSources {
    /// Any HelmRepository.
    Any,
    /// HelmRepositories of type `oci` only.
    Oci,
}

/// Image automation of a tenant's source.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageAutomation {
    /// Whether the tenant has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The name of its objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DnsLabel>,
    /// Who commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// The branch that is checked out and pushed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The Go template of the commit message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_template: Option<String>,
    /// The folder of the source that it updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The folder of the source with the image policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies_path: Option<RepoPath>,
    /// How often it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// How often its source is polled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_interval: Option<Duration>,
}

/// Who commits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// Notifications: a Provider and an Alert.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    /// The name of both objects.
    pub name: DnsLabel,
    /// The type of the Provider, for example `slack`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it sends to, where the Secret does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The Secret with its token or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<DnsLabel>,
    /// From which severity on: `info` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<AlertSeverity>,
}

/// The severity of an Alert.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum AlertSeverity {
    Info,
    Error,
}

/// A webhook that makes the tenant's sources reconcile at once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receiver {
    /// The name of the Receiver.
    pub name: DnsLabel,
    /// Its type, for example `github`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The events that count; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// The Secret with its token.
    pub secret: DnsLabel,
}

/// A source of manifests: a Git repository or an OCI artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The object's name; the layout names it after the tenant when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DnsLabel>,
    /// Its URL: `https://…`, `ssh://…` or `oci://…`, which decides between GitRepository and OCIRepository.
    pub url: String,
    /// Which revision; the cluster's `sourceBranch` when nothing is said of a Git repository.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// The Secret with the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<DnsLabel>,
    /// How often Flux looks for a new revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// How long fetching may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Who proves who we are: `generic`, `aws`, `azure`, `gcp` or `github`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Who must have signed what is fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Files to leave out, in the format of .gitignore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore: Option<String>,
    /// What differs by environment: that is how a version is promoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environments: Option<BTreeMap<DnsLabel, SourceOverride>>,
}

/// What an environment changes of a source.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceOverride {
    /// Which revision runs there.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<SourceRef>,
    /// Who must have signed what is fetched there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
}

/// A revision of a source: exactly one field.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// A Git branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Text>,
    /// A Git or OCI tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Text>,
    /// A range of versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semver: Option<Text>,
    /// A Git commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Text>,
    /// An OCI digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Text>,
}

/// A signature that a source must carry.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verify {
    /// `cosign` or `notation` for OCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What of a Git repository must be signed: `HEAD`, `Tag` or `TagAndHEAD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The Secret with the public keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<DnsLabel>,
    /// The OIDC identity of the signer: a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The OIDC subject of the signer: a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// A namespace of a confined tenant; what it does not say is the tenant's.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Namespace {
    /// Its name.
    pub name: DnsLabel,
    /// Its labels, beside the tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// Its annotations, beside the tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, Text>>,
    /// What it may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<BTreeMap<String, Text>>,
    /// The `spec.limits` of its LimitRange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_range: Option<Vec<Raw>>,
    /// The traffic that it lets in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
    /// Its Pod Security level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_security: Option<PodSecurity>,
}

/// A part of a tenant that is reconciled on its own: one Kustomization, or one for each of its stages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// Its name.
    pub name: DnsLabel,
    /// The namespace of a confined tenant that it runs in; its own name when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<DnsLabel>,
    /// The name of the source that it comes from; the tenant's `source` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<DnsLabel>,
    /// Stages that follow one another, each waiting for the one before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Settings for its stages, or its own.
    #[serde(flatten)]
    pub reconcile: Reconcile,
}

/// A stage of a component.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Its name.
    pub name: DnsLabel,
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
    pub path: Option<RepoPath>,
    /// What must be ready first: components (or `component/stage`) of the tenant, or of another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<DependsOn>>,
    /// How often it is reconciled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// How soon a failed one is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<Duration>,
    /// How long applying and the health checks may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Whether it is ready only when all that it applied is; follows from being depended on when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// Whether what leaves the source is deleted from the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
    /// Whether objects that cannot be changed are made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Whether it rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// What happens to its objects when it is deleted: `MirrorPrune`, `Delete`, `WaitForTermination` or `Orphan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Objects that must be healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_checks: Option<Vec<Raw>>,
    /// CEL expressions for the health of custom resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check_exprs: Option<Vec<Raw>>,
    /// How encrypted manifests are decrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,
    /// kustomize image overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Raw>>,
    /// kustomize patches on what it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Patch>>,
    /// Whether the cluster's runtime-info is substituted in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitute: Option<bool>,
    /// Further variables for substitution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<BTreeMap<VariableName, Text>>,
    /// Whether a confined component's objects are all put into its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    pub provider: String,
    /// The Secret with the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<DnsLabel>,
}
