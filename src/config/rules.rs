//! What is said of single rules: whether they run, how bad their findings are, their options.

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, json_schema};

use super::identity::DuplicateClusterIdentity;
use super::level::{Level, RuleOptions, level_schema};
use crate::text::Span;
use crate::yaml::Node;

/// The rule that [`DuplicateClusterIdentity`] are the options of.
const DUPLICATE_CLUSTER_IDENTITY: &str = "duplicate-cluster-identity";

/// What is said of rules. Those that have options beside their severity have a field with them.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How bad the findings of rules are, by their ids, where that is said.
    levels: BTreeMap<String, Level>,
    /// What must differ between clusters.
    pub duplicate_cluster_identity: DuplicateClusterIdentity,
    /// Each id that is named, and where.
    pub named: Vec<(String, Span)>,
}

impl Rules {
    /// What is said of a rule's severity.
    pub fn level(&self, rule: &str) -> Option<Level> {
        self.levels.get(rule).copied()
    }

    /// Reads them, as far as they are right.
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

    /// These, and what they leave open as `base` has it.
    pub(super) fn over(self, base: Self) -> Self {
        let mut levels = base.levels;
        levels.extend(self.levels);
        let named = base.named.into_iter().chain(self.named).collect();
        let identity = self.duplicate_cluster_identity.over(base.duplicate_cluster_identity);
        Self { levels, duplicate_cluster_identity: identity, named }
    }
}

/// Rules by their ids, in a schema. `lint`, which knows the ids, closes it.
pub(super) fn rules_schema(generator: &mut SchemaGenerator) -> Schema {
    let level = level_schema(generator);
    let any = generator.subschema_for::<RuleOptions>();
    let identity = generator.subschema_for::<DuplicateClusterIdentity>();
    json_schema!({
        "type": "object",
        "properties": {
            DUPLICATE_CLUSTER_IDENTITY: {
                "description": "Two clusters share a value that must differ: its severity, the keys of such values, and the clusters that may share them.",
                "anyOf": [level, identity],
                "examples": [{
                    "keys": ["CLUSTER_NAME", "CLUSTER_DOMAIN"],
                    "groups": [{"clusters": ["shop-blue", "shop-green"], "reason": "one serves while the other is made anew"}],
                }],
            },
        },
        "additionalProperties": { "anyOf": [level, any] },
    })
}
