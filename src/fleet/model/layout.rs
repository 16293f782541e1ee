//! layout.yaml: the settings of a layout.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::cluster::ClusterSettings;
use super::component::Reconcile;
use super::flux::Flux;
use super::source::Source;
use super::tenant::{Role, TenantSettings};
use crate::config::External;
use crate::fleet::scalar::{DnsLabel, Raw};

/// The settings of a layout: default values for fleet.yaml, and the output of templates.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutFile {
    /// What the layout is for, in one line.
    #[serde(default)]
    #[schemars(example = &"One directory for each cluster, and one for each tenant")]
    pub description: Option<String>,
    /// The built-in layout that this layout extends. A file replaces the file with the same path, an empty file drops it, and the settings merge.
    #[serde(default)]
    #[schemars(example = &"d1")]
    pub extends: Option<String>,
    /// The lowest level of settings, with the fields of fleet.yaml. Strings can contain expressions.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"cluster": {"path": "clusters/{{ cluster.name }}"}}))]
    pub defaults: Option<LayoutDefaults>,
    /// The JSON Schemas of `values`, by level. A level without a schema accepts no values. Without this field, every level accepts all values.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"cluster": {"required": ["region"], "properties": {"region": {"type": "string"}}}}))]
    pub values: Option<ValueSchemas>,
    /// The settings of fleet.yaml without effect in the layout, by level, as paths such as `flux.tuning`.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"platform": ["namespaces", "quota"]}))]
    pub ignored: Option<IgnoredSettings>,
    /// The directories of the layout with a different output path.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"clusters/[cluster]": "{{ cluster.path }}"}))]
    pub folders: BTreeMap<String, String>,
    /// Globs of files of the layout that are copied as they are, without header. They are not templates, but their paths can have placeholders.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["**/*.sh"]))]
    pub verbatim: Vec<String>,
    /// Globs of rendered files that another program also writes. Files with equal objects count as equal.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["**/gotk-sync.yaml"]))]
    pub shared: Vec<String>,
    /// Globs of files that only another program writes.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["**/gotk-components.yaml"]))]
    pub external: Vec<String>,
    /// The objects that exist on every cluster although no manifest defines them. Strings can be expressions for each cluster.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"kind": "ConfigMap", "namespace": "flux-system", "name": "shoot-info", "keys": ["SHOOT_INFO_NAME"]}]))]
    pub external_objects: Vec<External>,
    /// The ClusterRoles that the templates define, and that `access` can use. Strings can be expressions for the fleet.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["developer"]))]
    pub cluster_roles: Vec<String>,
    /// The configuration of the linter for repositories of the layout. The section of fleet.yaml overrides it.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"tenancy": {"mode": "multi"}}))]
    pub lint: Option<crate::config::Lint>,
    /// The root of a cluster, if no rendered file defines it.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"path": "{{ cluster.path }}"}))]
    pub root: Option<Root>,
}

/// The default values of a layout, by level.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutDefaults {
    /// The defaults of the fleet.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"values": {"organization": "acme"}}))]
    pub fleet: Option<FleetDefaults>,
    /// The defaults of the installation of Flux.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"version": "2.x"}))]
    pub flux: Option<Flux>,
    /// The defaults of every cluster.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"path": "clusters/{{ cluster.name }}"}))]
    pub cluster: Option<ClusterDefaults>,
    /// The defaults of every tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"serviceAccount": "flux-{{ tenant.name }}"}))]
    pub tenant: Option<TenantDefaults>,
    /// The defaults of every platform tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"bind": {"clusterRole": "cluster-admin"}}))]
    pub platform: Option<TenantDefaults>,
    /// The defaults of every confined tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"bind": {"clusterRole": "admin"}}))]
    pub confined: Option<TenantDefaults>,
    /// The defaults of every source. The name applies only to the first source of a tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"interval": "1m"}))]
    pub source: Option<Source>,
    /// The defaults of every Git repository.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"ref": {"branch": "main"}}))]
    pub git_source: Option<Source>,
    /// The defaults of every OCI artifact.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"ref": {"tag": "latest"}}))]
    pub oci_source: Option<Source>,
}

/// The defaults of the fleet.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FleetDefaults {
    /// The default values for the templates of the layout.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"organization": "acme"}))]
    pub values: Option<Raw>,
}

/// The defaults of a cluster.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDefaults {
    /// The environment of clusters that do not set one.
    #[serde(default)]
    #[schemars(example = &"production")]
    pub environment: Option<DnsLabel>,
    /// The other settings.
    #[serde(flatten)]
    pub settings: ClusterSettings,
}

/// The defaults of a tenant.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantDefaults {
    /// The role of tenants that do not set one.
    #[serde(default)]
    #[schemars(example = &"tenant")]
    pub role: Option<Role>,
    /// The names of the clusters that run tenants without `clusters`, or globs.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-*"]))]
    pub clusters: Option<Vec<String>>,
    /// The names of the environments whose clusters run tenants without `environments`, or globs.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["production"]))]
    pub environments: Option<Vec<String>>,
    /// The defaults of stages, in addition to `defaults`.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"timeout": "5m"}))]
    pub staged: Option<Reconcile>,
    /// The other settings.
    #[serde(flatten)]
    pub settings: TenantSettings,
}

/// The JSON Schemas of `values`, by level. Objects accept only their listed properties by default.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueSchemas {
    /// The schema of the `values` of the fleet.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"properties": {"region": {"type": "string"}}}))]
    pub fleet: Option<JsonSchemaNode>,
    /// The schema of the `values` of a cluster, and of its levels.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"properties": {"region": {"type": "string"}}}))]
    pub cluster: Option<JsonSchemaNode>,
    /// The schema of the `values` of a tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"properties": {"region": {"type": "string"}}}))]
    pub tenant: Option<JsonSchemaNode>,
    /// The schema of the `values` of a source.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"properties": {"region": {"type": "string"}}}))]
    pub source: Option<JsonSchemaNode>,
    /// The schema of the `values` of a component or stage, and of its levels.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"properties": {"region": {"type": "string"}}}))]
    pub component: Option<JsonSchemaNode>,
}

/// A JSON Schema.
#[derive(Debug, Clone)]
pub struct JsonSchemaNode;

impl JsonSchema for JsonSchemaNode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JsonSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// The settings without effect, by level, as paths such as `flux.tuning`.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IgnoredSettings {
    /// The settings of clusters, environments and `defaults.cluster`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["flux.tuning"]))]
    pub cluster: Vec<String>,
    /// The settings of every tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["policies"]))]
    pub tenant: Vec<String>,
    /// The settings of platform tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["namespaces"]))]
    pub platform: Vec<String>,
    /// The settings of confined tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["dependsOn"]))]
    pub confined: Vec<String>,
    /// The settings of sources.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["environments"]))]
    pub source: Vec<String>,
    /// The settings of the components and stages of every tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["stages"]))]
    pub component: Vec<String>,
    /// The settings of the components and stages of platform tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["namespace"]))]
    pub platform_component: Vec<String>,
    /// The settings of the components and stages of confined tenants.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["decryption"]))]
    pub confined_component: Vec<String>,
}

/// The directory with which Flux starts on a cluster. The fields are expressions for each cluster.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// The directory that Flux applies. Defaults to the `path` of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"{{ cluster.path }}")]
    pub path: Option<String>,
    /// The name of the repository that contains the directory. Defaults to the repository of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"{{ cluster.repository.name }}")]
    pub repository: Option<String>,
    /// The name of the source that contains the repository. Defaults to `flux-system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"OCIRepository/flux-system")]
    pub source: Option<String>,
    /// The namespace of the source. Defaults to the namespace of Flux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"flux-system")]
    pub namespace: Option<String>,
}
