//! Objects of clusters that no manifest defines.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::yaml::Node;

/// An object of clusters that no manifest defines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// The kind of the object: `ConfigMap` or `Secret`.
    #[schemars(example = &"ConfigMap")]
    pub kind: ExternalKind,
    /// The namespace of the object.
    #[schemars(length(min = 1), example = &"flux-system")]
    pub namespace: String,
    /// The name of the object.
    #[schemars(length(min = 1), example = &"cluster-info")]
    pub name: String,
    /// The known values, by key.
    #[serde(default)]
    #[schemars(schema_with = "data_schema", example = serde_json::json!({"REGION": "eu-1"}))]
    pub data: BTreeMap<String, Text>,
    /// The keys with unknown values. Without `keys` and `data`, the object may have any key.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["ACCOUNT_ID"]))]
    pub keys: Vec<String>,
    /// The clusters that have the object. Defaults to all clusters.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-eu"]))]
    pub clusters: Vec<String>,
}

/// The kinds of external objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Kubernetes'")]
pub enum ExternalKind {
    ConfigMap,
    Secret,
}

impl ExternalKind {
    /// Returns the kind as manifests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// A scalar that keeps its spelling, quoted or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Text(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// An external object and its declaration.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The object.
    pub external: External,
    /// The item of `external`, with the positions of its fields.
    pub node: Node,
}

impl Declared {
    /// Returns whether a cluster has the object.
    pub fn is_on(&self, cluster: &str) -> bool {
        let clusters = &self.external.clusters;
        clusters.is_empty() || clusters.iter().any(|name| name == cluster)
    }
}

fn data_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
}
