//! The configuration of rules: their levels and their options.

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, json_schema};

use super::identity::DuplicateClusterIdentity;
use super::level::{Level, RuleOptions, level_schema};
use crate::text::Span;
use crate::yaml::Node;

/// The rule with the options [`DuplicateClusterIdentity`].
const DUPLICATE_CLUSTER_IDENTITY: &str = "duplicate-cluster-identity";

/// The configuration of rules. Rules with options other than the severity have a field.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The configured levels, by rule id.
    levels: BTreeMap<String, Level>,
    /// The options of `duplicate-cluster-identity`.
    pub duplicate_cluster_identity: DuplicateClusterIdentity,
    /// The configured rule ids and their places.
    pub named: Vec<(String, Span)>,
}

impl Rules {
    /// Returns the configured level of a rule.
    pub fn level(&self, rule: &str) -> Option<Level> {
        self.levels.get(rule).copied()
    }

    /// Reads the valid part of the section.
    pub(super) fn read(section: &Node) -> Self {
        let mut rules = Self::default();
        for entry in section.entries() {
            rules.named.push((entry.key.to_string(), entry.key_span()));
            if let Some(level) = Level::of(&entry.node) {
                rules.levels.insert(entry.key.to_string(), level);
            }
            if &*entry.key == DUPLICATE_CLUSTER_IDENTITY {
                rules.duplicate_cluster_identity = DuplicateClusterIdentity::read(&entry.node);
            }
        }
        rules
    }

    /// Returns this configuration, with unset levels and options from `base`.
    pub(super) fn over(self, base: Self) -> Self {
        let mut levels = base.levels;
        levels.extend(self.levels);
        let named = base.named.into_iter().chain(self.named).collect();
        let identity = self.duplicate_cluster_identity.over(base.duplicate_cluster_identity);
        Self { levels, duplicate_cluster_identity: identity, named }
    }
}

/// Returns the schema of the section. The `lint` module adds the rule ids.
pub(super) fn rules_schema(generator: &mut SchemaGenerator) -> Schema {
    let level = level_schema(generator);
    let any = generator.subschema_for::<RuleOptions>();
    let identity = generator.subschema_for::<DuplicateClusterIdentity>();
    json_schema!({
        "type": "object",
        "properties": {
            DUPLICATE_CLUSTER_IDENTITY: {
                "description": "Clusters share a value that must be unique. The options are the severity, the keys whose values must be unique, and the groups of clusters that may share values.",
                "anyOf": [level, identity],
                "examples": [{
                    "keys": ["CLUSTER_NAME", "CLUSTER_DOMAIN"],
                    "groups": [{"clusters": ["shop-blue", "shop-green"], "reason": "one serves traffic while the other is replaced"}],
                }],
            },
        },
        "additionalProperties": { "anyOf": [level, any] },
    })
}
