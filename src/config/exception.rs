//! Exceptions: accepted findings, with a reason.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::bearings::Bearings;
use super::decode::decode;
use super::formats::{DATE, NOT_BLANK, RULE_ID};
use super::glob::globs_schema;
use crate::base::date::Date;
use crate::text::Span;
use crate::yaml::Node;

/// The rule id for exceptions that match no finding.
pub const UNUSED_EXCEPTION: &str = "unused-exception";
/// The rule id for exceptions after their last day.
pub const EXPIRED_EXCEPTION: &str = "expired-exception";
/// The rule id for errors in exceptions.
pub const INVALID_EXCEPTION: &str = "invalid-exception";

/// An exception that accepts the findings of a rule, optionally limited to objects and paths.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// The id of the rule.
    #[schemars(schema_with = "rule_schema", example = &"missing-prune")]
    pub rule: String,
    /// The reason why the findings are accepted. It must not be empty.
    #[schemars(schema_with = "reason_schema", example = &"the data must survive its Kustomization")]
    pub reason: String,
    /// The last day of the exception, as `YYYY-MM-DD`. Defaults to no end. Afterwards, the findings are reported again.
    #[serde(default)]
    #[schemars(schema_with = "date_schema", example = &"2027-01-31")]
    pub until: Option<Date>,
    /// The objects, as `Kind/namespace/name` or `Kind/name`, with `*` for any text. Defaults to all objects.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["Kustomization/db/*"]))]
    pub objects: Vec<String>,
    /// Globs of paths. Defaults to all paths. The path of a directory matches all files in it.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["tenants/db/**"]))]
    pub paths: Vec<String>,
    /// The lines of a file in which the exception is effective, if a comment in the file states it.
    #[schemars(skip)]
    pub lines: Option<Span>,
    /// The place of the rule id.
    #[schemars(skip)]
    pub at: Span,
    /// Whether a layout defines the exception. Such an exception may match no finding.
    #[schemars(skip)]
    pub of_layout: bool,
    /// The base of the paths.
    #[schemars(skip)]
    pub bearings: Arc<Bearings>,
}

impl Exception {
    /// Returns whether the exception is not effective on a day.
    pub fn is_expired(&self, today: Option<Date>) -> bool {
        self.until.zip(today).is_some_and(|(until, today)| until < today)
    }

    /// Reads an exception; `None` if it is invalid.
    pub(super) fn read(node: &Node) -> Option<Self> {
        let rule = node.get("rule")?;
        let reason: String = node.get("reason").and_then(decode)?;
        let list = |field: &str| node.get(field).filter(|list| !list.is_null()).map_or(Some(Vec::new()), decode);
        Some(Self {
            rule: decode(rule)?,
            reason: Some(reason).filter(|reason| !reason.trim().is_empty())?,
            until: match node.get("until").filter(|until| !until.is_null()) {
                Some(until) => Some(Date::parse(&decode::<String>(until)?)?),
                None => None,
            },
            objects: list("objects")?,
            paths: list("paths")?,
            lines: None,
            at: rule.span().clone(),
            of_layout: false,
            bearings: Arc::default(),
        })
    }
}

fn rule_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": RULE_ID })
}

fn date_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": DATE })
}

/// Returns the schema of a reason, which must not be blank.
pub(super) fn reason_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "pattern": NOT_BLANK })
}
