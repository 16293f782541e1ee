//! The level of a rule: its severity, or off.

use super::decode::decode;
use crate::base::finding::Severity;
use crate::yaml::{Node, Reader, Scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// How bad the findings of a rule are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It does not run.
    Off,
    /// They are shown only when pedantic ones are.
    Pedantic,
    /// They are warnings.
    Warning,
    /// They are errors.
    Error,
}

/// What can be said of every rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleOptions {
    /// How bad its findings are, whatever the rule says; `off` does not run it.
    #[serde(default)]
    #[schemars(schema_with = "level_schema", example = &"error")]
    pub severity: Option<Level>,
}

impl Level {
    /// The severity that it gives findings; none when the rule does not run.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Pedantic => Some(Severity::Pedantic),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }

    /// The level that is said of a rule, alone or among its options.
    pub(super) fn of(rule: &Node) -> Option<Self> {
        if rule.is_map() { rule.get("severity").and_then(Self::read) } else { Self::read(rule) }
    }

    /// Reads one; `false` is what an editor of YAML 1.1 makes of `off`.
    fn read(node: &Node) -> Option<Self> {
        match node.resolve(Reader::Core) {
            Some(Scalar::Bool(false)) => Some(Self::Off),
            _ => decode(node),
        }
    }
}

pub(super) fn level_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "boolean"], "enum": ["off", "pedantic", "warning", "error", false] })
}
