//! Admission policies that the linter evaluates, beside those that clusters receive.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::decode::decode;
use super::external::Text;
use super::formats::ROOT_PATH;
use super::glob::{self, globs_schema};
use crate::text::Span;
use crate::yaml::Node;

/// A directory with policies, or a built-in policy.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyConfig {
    /// A directory or a file with `ValidatingAdmissionPolicy` objects, their bindings and their parameters, relative to
    /// this file.
    #[serde(default)]
    #[schemars(length(min = 1), extend("format" = ROOT_PATH), example = &"policies")]
    pub path: Option<String>,
    /// The name of a built-in policy; `fleetwright policy list` prints the names.
    #[serde(default)]
    #[schemars(length(min = 1), example = &"no-latest-image")]
    pub builtin: Option<String>,
    /// The values of the built-in policy's parameters.
    #[serde(default)]
    #[schemars(schema_with = "parameters_schema", example = serde_json::json!({"registries": "ghcr.io/acme"}))]
    pub parameters: BTreeMap<String, Text>,
    /// Globs of the names of clusters with the policies. Defaults to all clusters.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["prod-*"]))]
    pub clusters: Vec<String>,
}

/// An item of `policies` and its place.
#[derive(Debug, Clone)]
pub struct DeclaredPolicies {
    /// The item.
    pub config: PolicyConfig,
    /// The position of the path or of the name.
    pub at: Span,
    /// The position of each parameter.
    pub parameters: BTreeMap<String, Span>,
}

impl DeclaredPolicies {
    /// Reads an item; `None` if it is invalid.
    pub(super) fn read(node: &Node) -> Option<Self> {
        if let Some(path) = node.text() {
            let config = PolicyConfig { path: Some(path.to_owned()), ..PolicyConfig::default() };
            return Some(Self { config, at: node.span().clone(), parameters: BTreeMap::new() });
        }
        let at = node.get("path").or_else(|| node.get("builtin"))?.span().clone();
        let values = node.get("parameters").map(Node::entries).unwrap_or_default();
        let parameters = values.iter().map(|entry| (entry.key.to_string(), entry.key_span())).collect();
        Some(Self { config: decode(node)?, at, parameters })
    }

    /// Returns whether a cluster has the policies.
    pub fn is_on(&self, cluster: &str) -> bool {
        self.config.clusters.is_empty() || glob::clusters(&self.config.clusters).is_match(cluster)
    }
}

fn parameters_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
}

/// Returns the schema of `policies`: paths, or mappings with a path or the name of a built-in policy.
pub(super) fn policies_schema(generator: &mut SchemaGenerator) -> Schema {
    let item = generator.subschema_for::<PolicyConfig>();
    let path = json_schema!({ "type": "string", "minLength": 1, "format": ROOT_PATH });
    json_schema!({ "type": "array", "items": { "anyOf": [path, item] } })
}
