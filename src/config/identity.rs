//! The options of `duplicate-cluster-identity`: keys with unique values, and groups of clusters that share them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::decode::decode;
use super::exception::reason_schema;
use super::level::{Level, level_schema};
use crate::yaml::Node;

/// The default keys with unique values: two names in their usual spellings.
const KEYS: [&str; 8] = [
    "CLUSTER_NAME",
    "CLUSTERNAME",
    "cluster_name",
    "clusterName",
    "CLUSTER_DOMAIN",
    "CLUSTERDOMAIN",
    "cluster_domain",
    "clusterDomain",
];

/// The options of `duplicate-cluster-identity`.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicateClusterIdentity {
    /// The severity of the rule's findings. `off` disables the rule.
    #[serde(default)]
    #[schemars(schema_with = "level_schema", example = &"warning")]
    pub severity: Option<Level>,
    /// The variables whose values must be unique for each cluster. Defaults to `CLUSTER_NAME` and `CLUSTER_DOMAIN`, also as `clusterName` or `cluster_name`.
    #[serde(default)]
    #[schemars(schema_with = "keys_schema", example = serde_json::json!(["CLUSTER_NAME", "CLUSTER_DOMAIN"]))]
    keys: Option<Vec<String>>,
    /// The groups of clusters that may share values, each with a reason.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"clusters": ["shop-blue", "shop-green"], "reason": "one serves traffic while the other is replaced"}]))]
    pub groups: Vec<ClusterGroup>,
}

/// A group of clusters that may share values, such as a blue-green pair.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterGroup {
    /// The names of the clusters.
    #[schemars(schema_with = "clusters_schema", example = serde_json::json!(["shop-blue", "shop-green"]))]
    pub clusters: Vec<String>,
    /// The reason why the clusters may share values.
    #[schemars(schema_with = "reason_schema", example = &"one serves traffic while the other is replaced")]
    pub reason: String,
}

impl DuplicateClusterIdentity {
    /// Returns the keys whose values must be unique.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let said = self.keys.iter().flatten().map(String::as_str);
        said.chain(KEYS.into_iter().filter(|_| self.keys.is_none()))
    }

    /// Returns whether one group contains all of the clusters.
    pub fn may_share(&self, clusters: &[&str]) -> bool {
        let has = |group: &ClusterGroup, name: &str| group.clusters.iter().any(|cluster| cluster == name);
        self.groups.iter().any(|group| clusters.iter().all(|name| has(group, name)))
    }

    /// Reads the valid part of the options.
    pub(super) fn read(node: &Node) -> Self {
        let level = Level::of(node);
        let groups = node.get("groups").map_or(&[][..], Node::items);
        let groups = groups.iter().filter_map(decode).filter(|group: &ClusterGroup| !group.reason.trim().is_empty());
        Self { severity: level, keys: node.get("keys").and_then(decode), groups: groups.collect() }
    }

    /// Returns these options, with unset options from `base`. Groups are concatenated.
    pub(super) fn over(self, base: Self) -> Self {
        let groups = base.groups.into_iter().chain(self.groups).collect();
        Self { severity: self.severity.or(base.severity), keys: self.keys.or(base.keys), groups }
    }
}

fn keys_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 } })
}

fn clusters_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "minItems": 2, "items": { "type": "string", "minLength": 1 } })
}
