//! Included files, and the restrictions of files that a team owns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::tenant::Role;
use crate::fleet::scalar::{Quantity, QuotaResource};

/// The included files: one entry, or a list of entries.
///
/// This type serves the schema only.
#[derive(Debug, Clone, Copy)]
pub struct Includes;

impl JsonSchema for Includes {
    fn schema_name() -> Cow<'static, str> {
        "Includes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = generator.subschema_for::<Include>();
        json_schema!({
            "description": "The included files: one entry, or a list of entries.",
            "anyOf": [entry, { "type": "array", "items": entry }],
        })
    }
}

/// A glob, or a list of globs.
///
/// This type serves the schema only.
#[derive(Debug, Clone, Copy)]
pub struct Globs;

impl JsonSchema for Globs {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Globs".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            { "type": "array", "items": { "type": "string", "minLength": 1 } },
        ] })
    }
}

/// The files with additional clusters and tenants. Each YAML document contains one, with the fields of a list item. A glob without files is valid.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Include {
    /// Globs of files with clusters, relative to this file.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["fleet/clusters/*.yaml"]))]
    pub clusters: Option<Globs>,
    /// Globs of files with tenants, relative to this file.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["fleet/tenants/*.yaml"]))]
    pub tenants: Option<Globs>,
    /// The settings that the files with tenants can contain. Without this field, the files are not restricted. With this field, even if it is empty, the files can define confined tenants only, and every setting that could extend their rights is an error.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"sources": ["https://github.com/acme/*"], "quota": {"limits.memory": "64Gi"}}))]
    pub allow: Option<Allow>,
}

/// The settings that a restricted file can contain. If several entries match a file, all of them restrict it.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allow {
    /// The roles of the tenants. Defaults to `tenant`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["tenant"]))]
    pub roles: Option<Vec<Role>>,
    /// The names of the tenants. `file`, the default: the name of the file, so that the owner of a file cannot define the tenant of another team. `any`: every name.
    #[serde(default)]
    #[schemars(example = &"any")]
    pub names: Option<AllowedNames>,
    /// The namespaces of the tenants. `prefix`, the default: the name of the tenant, and names that start with it and `-`. `any`: every namespace that is not reserved.
    #[serde(default)]
    #[schemars(example = &"prefix")]
    pub namespaces: Option<AllowedNamespaces>,
    /// Globs of URLs of sources. `*` matches a part of a path segment, `**` matches several segments. Defaults to every URL.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["https://github.com/acme/*"]))]
    pub sources: Option<Vec<String>>,
    /// Globs of names of Secrets, in addition to the name of the tenant, names that start with it and `-`, and `flux-` with the name of the tenant.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["registry-auth"]))]
    pub secrets: Option<Vec<String>>,
    /// The maximum quota of each namespace. A tenant without `quota` gets the maximum. Without this field, a restricted file cannot set `quota`.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"limits.memory": "64Gi"}))]
    pub quota: Option<BTreeMap<QuotaResource, Quantity>>,
    /// The roles that `access` can grant. Without this field, a restricted file cannot set `access`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["view", "edit"]))]
    pub access: Option<Vec<String>>,
    /// Globs of keys of labels. Without this field, a restricted file cannot set labels, since policies may select them.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["team", "example.com/*"]))]
    pub labels: Option<Vec<String>>,
    /// Globs of keys of annotations. Without this field, a restricted file cannot set annotations.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["example.com/*"]))]
    pub annotations: Option<Vec<String>>,
    /// Additional settings: settings of a tenant, such as `networkPolicy`, and settings of its parts, such as `component.patches`, `source.provider` and `namespace.podSecurity`.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["networkPolicy", "namespace.podSecurity"]))]
    pub settings: Option<Vec<String>>,
}

/// The names that the tenants of a restricted file can have.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AllowedNames {
    /// The name of the file.
    File,
    /// Every name.
    Any,
}

/// The namespaces that the tenants of a restricted file can have.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AllowedNamespaces {
    /// The name of the tenant, and names that start with it and `-`.
    Prefix,
    /// Every namespace that is not reserved.
    Any,
}
