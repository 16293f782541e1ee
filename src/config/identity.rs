//! The options of `duplicate-cluster-identity`: what must differ between clusters, and which may be alike.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::decode::decode;
use super::exception::reason_schema;
use super::level::{Level, level_schema};
use crate::yaml::Node;

/// The keys whose values must differ where nothing says otherwise.
const KEYS: [&str; 2] = ["CLUSTER_NAME", "CLUSTER_DOMAIN"];

/// The options of `duplicate-cluster-identity`.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicateClusterIdentity {
    /// How bad its findings are, whatever the rule says; `off` does not run it.
    #[serde(default)]
    #[schemars(schema_with = "level_schema", example = &"warning")]
    pub severity: Option<Level>,
    /// The variables whose values must differ between clusters; `CLUSTER_NAME` and `CLUSTER_DOMAIN` when left out.
    #[serde(default)]
    #[schemars(schema_with = "keys_schema", example = serde_json::json!(["CLUSTER_NAME", "CLUSTER_DOMAIN"]))]
    keys: Option<Vec<String>>,
    /// Clusters that may share them, each group with its reason.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"clusters": ["shop-blue", "shop-green"], "reason": "one serves while the other is made anew"}]))]
    pub groups: Vec<ClusterGroup>,
}

/// Clusters that may share what must differ between others, such as blue and green.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterGroup {
    /// The clusters' names.
    #[schemars(schema_with = "clusters_schema", example = serde_json::json!(["shop-blue", "shop-green"]))]
    pub clusters: Vec<String>,
    /// Why they may.
    #[schemars(schema_with = "reason_schema", example = &"one serves while the other is made anew")]
    pub reason: String,
}

impl DuplicateClusterIdentity {
    /// The keys whose values must differ.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let said = self.keys.iter().flatten().map(String::as_str);
        said.chain(KEYS.into_iter().filter(|_| self.keys.is_none()))
    }

    /// Tells whether one group has all of these clusters.
    pub fn may_share(&self, clusters: &[&str]) -> bool {
        let has = |group: &ClusterGroup, name: &str| group.clusters.iter().any(|cluster| cluster == name);
        self.groups.iter().any(|group| clusters.iter().all(|name| has(group, name)))
    }

    /// Reads them, as far as they are right.
    pub(super) fn read(node: &Node) -> Self {
        let level = Level::of(node);
        let groups = node.get("groups").map_or(&[][..], Node::items);
        let groups = groups.iter().filter_map(decode).filter(|group: &ClusterGroup| !group.reason.trim().is_empty());
        Self { severity: level, keys: node.get("keys").and_then(decode), groups: groups.collect() }
    }

    /// These, and what they leave open as `base` has it.
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
