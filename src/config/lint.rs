//! The `lint` section of `.fleetwright.yaml` and fleet.yaml, which configures the linter.

use std::sync::Arc;

use schemars::JsonSchema;

use super::bearings::Bearings;
use super::decode::decode;
use super::exception::Exception;
use super::glob::globs_schema;
use super::named_clusters::{self, NamedCluster};
use super::production::Production;
use super::rules::{Rules, rules_schema};
use super::tenancy::{self, Tenancy};
use crate::base::finding::Finding;
use crate::text::Span;
use crate::yaml::Node;

/// The configuration of the linter.
#[derive(Debug, Clone, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// Whether pedantic findings are reported. `--pedantic` and `--no-pedantic` override it.
    #[serde(default)]
    #[schemars(example = &true)]
    pub pedantic: Option<bool>,
    /// The rules to configure, by id: `off`, the severity of the findings, or a mapping with `severity` and options of the
    /// rule.
    #[serde(default)]
    #[schemars(schema_with = "rules_schema", example = serde_json::json!({"missing-resource": "warning", "duplicate-key": {"severity": "error"}}))]
    pub rules: Rules,
    /// Globs of paths without findings. The path of a directory matches all files in it. Skipped findings are counted.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["examples/**"]))]
    pub skip: Vec<Skip>,
    /// Globs of the names of production clusters. Defaults to names with a segment `prod`, `production`, `prd` or `live`.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["prod-*"]))]
    pub production: Production,
    /// The tenants and their isolation, which override the inferred values.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"mode": "multi", "tenants": {"team-a": ["team-a", "team-a-staging"]}}))]
    pub tenancy: Tenancy,
    /// The accepted findings, each with a reason.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"rule": "missing-prune", "reason": "the data must survive its Kustomization", "objects": ["Kustomization/db/*"]}]))]
    pub exceptions: Vec<Exception>,
    /// The cluster names in the section.
    #[schemars(skip)]
    pub named_clusters: Vec<NamedCluster>,
}

/// A glob of paths without findings.
#[derive(Debug, Clone)]
pub struct Skip {
    /// The glob.
    pub glob: String,
    /// The place of the glob.
    pub at: Span,
    /// The base of the glob.
    pub bearings: Arc<Bearings>,
}

impl Lint {
    /// Reads the valid part of a section.
    pub fn read(section: &Node) -> Self {
        let items = |field: &str| section.get(field).map(Node::items).unwrap_or_default();
        let skip = |node: &Node| Some(Skip { glob: decode(node)?, at: node.span().clone(), bearings: Arc::default() });
        Self {
            pedantic: section.get("pedantic").and_then(decode),
            rules: section.get("rules").map(Rules::read).unwrap_or_default(),
            skip: items("skip").iter().filter_map(skip).collect(),
            production: Production { globs: section.get("production").and_then(decode).unwrap_or_default() },
            tenancy: section.get("tenancy").map(Tenancy::read).unwrap_or_default(),
            exceptions: items("exceptions").iter().filter_map(Exception::read).collect(),
            named_clusters: named_clusters::of_lint(section),
        }
    }

    /// Returns this section, with unset fields from `base`. Lists are concatenated.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        Self {
            pedantic: self.pedantic.or(base.pedantic),
            rules: self.rules.over(base.rules),
            skip: base.skip.into_iter().chain(self.skip).collect(),
            production: self.production.over(base.production),
            tenancy: self.tenancy.over(base.tenancy),
            exceptions: base.exceptions.into_iter().chain(self.exceptions).collect(),
            named_clusters: base.named_clusters.into_iter().chain(self.named_clusters).collect(),
        }
    }

    /// Marks the exceptions as those of a layout.
    #[must_use]
    pub fn of_layout(mut self) -> Self {
        self.exceptions.iter_mut().for_each(|exception| exception.of_layout = true);
        self
    }

    /// Sets the base of the paths.
    #[must_use]
    pub fn seen_from(mut self, bearings: Bearings) -> Self {
        let bearings = Arc::new(bearings);
        self.skip.iter_mut().for_each(|skip| skip.bearings = bearings.clone());
        self.exceptions.iter_mut().for_each(|exception| exception.bearings = bearings.clone());
        self
    }

    /// Returns the id and the place of every configured rule.
    pub fn named_rules(&self) -> impl Iterator<Item = (&str, &Span)> {
        let named = self.rules.named.iter().map(|(id, at)| (id.as_str(), at));
        named.chain(self.exceptions.iter().map(|exception| (exception.rule.as_str(), &exception.at)))
    }
}

/// Reports errors that the schema cannot express, with the rule id `rule`.
pub fn check(section: &Node, rule: &'static str) -> Vec<Finding> {
    section.get("tenancy").map(|section| tenancy::check(section, rule)).unwrap_or_default()
}
