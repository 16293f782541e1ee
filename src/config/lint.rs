//! The `lint` section, which `.fleetwright.yaml` and fleet.yaml share: how a repository is judged.

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

/// How the linter judges a repository.
#[derive(Debug, Clone, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// Whether pedantic findings are shown too; `--pedantic` and `--no-pedantic` say the same.
    #[serde(default)]
    #[schemars(example = &true)]
    pub pedantic: Option<bool>,
    /// Single rules by their ids: `off`, the severity of their findings, or a mapping with `severity` and the rule's own
    /// options.
    #[serde(default)]
    #[schemars(schema_with = "rules_schema", example = serde_json::json!({"missing-resource": "warning", "duplicate-key": {"severity": "error"}}))]
    pub rules: Rules,
    /// Globs of paths whose findings are not wanted; a folder means all that is in it. They are counted.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["examples/**"]))]
    pub skip: Vec<Skip>,
    /// Globs of the names of clusters that are production. When left out, a name's segment says it: `prod`, `production`,
    /// `prd` or `live`.
    #[serde(default)]
    #[schemars(schema_with = "globs_schema", example = serde_json::json!(["prod-*"]))]
    pub production: Production,
    /// Who the tenants are and what guards them, where that is not to be inferred.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"mode": "multi", "tenants": {"team-a": ["team-a", "team-a-staging"]}}))]
    pub tenancy: Tenancy,
    /// Findings that are accepted, each with its reason.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"rule": "missing-prune", "reason": "the data must survive its Kustomization", "objects": ["Kustomization/db/*"]}]))]
    pub exceptions: Vec<Exception>,
    /// The clusters that it names.
    #[schemars(skip)]
    pub named_clusters: Vec<NamedCluster>,
}

/// Paths whose findings are not wanted.
#[derive(Debug, Clone)]
pub struct Skip {
    /// The glob.
    pub glob: String,
    /// Where it is said.
    pub at: Span,
    /// What it is relative to.
    pub bearings: Arc<Bearings>,
}

impl Lint {
    /// Reads a section, as far as it is right.
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

    /// This section, and what it leaves open as `base` has it; lists have what both say.
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

    /// Says what its paths are relative to.
    #[must_use]
    pub fn seen_from(mut self, bearings: Bearings) -> Self {
        let bearings = Arc::new(bearings);
        self.skip.iter_mut().for_each(|skip| skip.bearings = bearings.clone());
        self.exceptions.iter_mut().for_each(|exception| exception.bearings = bearings.clone());
        self
    }

    /// Every rule that is named, and where.
    pub fn named_rules(&self) -> impl Iterator<Item = (&str, &Span)> {
        let named = self.rules.named.iter().map(|(id, at)| (id.as_str(), at));
        named.chain(self.exceptions.iter().map(|exception| (exception.rule.as_str(), &exception.at)))
    }
}

/// What the schema cannot see of a section's mistakes; `rule` is the one of the file's mistakes.
pub fn check(section: &Node, rule: &'static str) -> Vec<Finding> {
    section.get("tenancy").map(|section| tenancy::check(section, rule)).unwrap_or_default()
}
