//! Exceptions: findings that are accepted, with a reason.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::bearings::Bearings;
use super::decode::decode;
use super::glob::globs_schema;
use super::words::{RULE_ID, SAID};
use crate::text::Span;
use crate::yaml::Node;

/// Findings that are accepted: those of a rule, narrowed by objects and paths.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// The rule's id.
    #[schemars(schema_with = "rule_schema", example = &"missing-prune")]
    pub rule: String,
    /// Why it is right here; an exception without a reason is none.
    #[schemars(schema_with = "reason_schema", example = &"the data must survive its Kustomization")]
    pub reason: String,
    /// Objects as `Kind/namespace/name` or `Kind/name`, with `*` for any text; all when left out.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["Kustomization/db/*"]))]
    pub objects: Vec<String>,
    /// Globs of paths; all when left out. A folder means all that is in it.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["tenants/db/**"]))]
    pub paths: Vec<String>,
    /// Where the rule is named.
    #[schemars(skip)]
    pub at: Span,
    /// What its paths are relative to.
    #[schemars(skip)]
    pub bearings: Arc<Bearings>,
}

impl Exception {
    /// Reads one; an exception with a mistake in it excepts nothing.
    pub(super) fn read(node: &Node) -> Option<Self> {
        let rule = node.get("rule")?;
        let reason: String = node.get("reason").and_then(decode)?;
        let list = |field: &str| node.get(field).filter(|list| !list.is_null()).map_or(Some(Vec::new()), decode);
        Some(Self {
            rule: decode(rule)?,
            reason: Some(reason).filter(|reason| !reason.trim().is_empty())?,
            objects: list("objects")?,
            paths: list("paths")?,
            at: rule.span().clone(),
            bearings: Arc::default(),
        })
    }
}

fn rule_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": RULE_ID })
}

/// A reason in a schema: a text that says something.
pub(super) fn reason_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "pattern": SAID })
}
