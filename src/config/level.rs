//! The level of a rule: its severity, or `off`.

use super::decode::decode;
use crate::base::finding::Severity;
use crate::yaml::{Node, Reader, Scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The severity of a rule's findings, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The rule does not run.
    Off,
    /// Findings are pedantic, and are reported only if pedantic findings are enabled.
    Pedantic,
    /// Findings are warnings.
    Warning,
    /// Findings are errors.
    Error,
}

/// The options of every rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleOptions {
    /// The severity of the rule's findings. `off` disables the rule.
    #[serde(default)]
    #[schemars(schema_with = "level_schema", example = &"error")]
    pub severity: Option<Level>,
}

impl Level {
    /// Returns the severity of the findings; `None` if the rule does not run.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Pedantic => Some(Severity::Pedantic),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }

    /// Returns the level of a rule, in the short form or among its options.
    pub(super) fn of(rule: &Node) -> Option<Self> {
        if rule.is_map() { rule.get("severity").and_then(Self::read) } else { Self::read(rule) }
    }

    /// Reads a level. A YAML 1.1 editor may write `false` for `off`.
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
