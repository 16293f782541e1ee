//! Objects that clusters have although no manifest makes them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::yaml::Node;

/// An object that the clusters have although no manifest makes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// `ConfigMap` or `Secret`.
    #[schemars(example = &"ConfigMap")]
    pub kind: ExternalKind,
    /// Its namespace.
    #[schemars(length(min = 1), example = &"flux-system")]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1), example = &"cluster-info")]
    pub name: String,
    /// The values that are known, by key.
    #[serde(default)]
    #[schemars(schema_with = "data_schema", example = serde_json::json!({"REGION": "eu-1"}))]
    pub data: BTreeMap<String, Text>,
    /// The keys whose values are not known. With neither these nor `data`, it may have any key.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["ACCOUNT_ID"]))]
    pub keys: Vec<String>,
    /// The clusters that have it; all when left out.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-eu"]))]
    pub clusters: Vec<String>,
}

/// The kinds that may be declared external.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Kubernetes'")]
pub enum ExternalKind {
    ConfigMap,
    Secret,
}

impl ExternalKind {
    /// The kind as manifests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// A scalar that is kept as it is written, quoted or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Text(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// An external object and where it is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// What is said.
    pub external: External,
    /// The item of `external`, whose nodes have the places.
    pub node: Node,
}

impl Declared {
    /// Tells whether a cluster has it.
    pub fn is_on(&self, cluster: &str) -> bool {
        let clusters = &self.external.clusters;
        clusters.is_empty() || clusters.iter().any(|name| name == cluster)
    }
}

fn data_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
}
