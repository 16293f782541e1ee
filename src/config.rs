//! How the linter judges a repository: the `lint` section of fleet.yaml, which `.fleetwright.yaml` shares.

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::schema::{Checker, Fault, Word, publish};
use crate::text::Tree;
use crate::yaml::{Node, Reader};

/// The file at the root of a repository that says how it is judged.
pub const PATH: &str = ".fleetwright.yaml";
/// The rule of mistakes in it.
const INVALID_CONFIG: &str = "invalid-config";
/// The pattern of a rule's id.
const RULE_ID: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The pattern of a text that says something.
const SAID: &str = r"\S";

/// What the patterns of this section mean.
pub const WORDS: &[Word] = &[Word { mark: RULE_ID, fault: rule_id }, Word { mark: SAID, fault: said }];

/// The configuration of the linter.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// `fleetwright.dev/v1alpha1`.
    #[schemars(example = &"fleetwright.dev/v1alpha1")]
    pub api_version: ApiVersion,
    /// `Config`.
    #[schemars(example = &"Config")]
    pub kind: ConfigKind,
    /// How the linter judges the repository.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"exceptions": [{"rule": "missing-prune", "reason": "the data must survive its Kustomization"}]}))]
    pub lint: Option<Lint>,
}

/// The version of the language.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first.
    #[serde(rename = "fleetwright.dev/v1alpha1")]
    V1Alpha1,
}

/// The kind of a configuration.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum ConfigKind {
    /// The only one.
    Config,
}

/// How the linter judges a repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lint {
    /// Findings that are accepted, each with its reason.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"rule": "missing-prune", "reason": "the data must survive its Kustomization", "objects": ["Kustomization/db/*"]}]))]
    pub exceptions: Vec<Exception>,
}

/// Findings that are accepted: those of a rule, narrowed by objects and paths.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exception {
    /// The rule's id.
    #[schemars(schema_with = "rule_schema", example = &"missing-prune")]
    pub rule: String,
    /// Why it is right here; an exception without a reason is none.
    #[schemars(schema_with = "reason_schema", example = &"the data must survive its Kustomization")]
    pub reason: String,
    /// Objects as `Kind/namespace/name` or `Kind/name`, with `*` for any text; all when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = serde_json::json!(["Kustomization/db/*"]))]
    pub objects: Vec<String>,
    /// Globs of paths; all when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = serde_json::json!(["tenants/db/**"]))]
    pub paths: Vec<String>,
}

fn rule_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": RULE_ID })
}

fn reason_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1, "pattern": SAID })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn rule_id(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no rule's id");
    let help = "ids are words with `-` between them, as findings show them: `missing-prune`";
    Some(Fault { rule: None, message, help: help.into() })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn said(_: &str) -> Option<Fault> {
    Some(Fault {
        rule: None,
        message: "is empty".into(),
        help: "say why it is right here; the next reader will ask".into(),
    })
}

/// The schema of `.fleetwright.yaml`.
pub fn schema() -> serde_json::Value {
    publish::<Config>(PATH, "How fleetwright judges a repository.")
}

static CHECKER: LazyLock<Checker> = LazyLock::new(|| Checker::new(schema(), INVALID_CONFIG, WORDS));

/// Reads `.fleetwright.yaml` at the root of a tree; a tree without one is judged by the defaults.
pub fn load(tree: &Tree) -> (Lint, Vec<Finding>) {
    if !tree.has_file(PATH) {
        return (Lint::default(), Vec::new());
    }
    let file = match tree.file(PATH) {
        Ok(file) => file,
        Err(error) => {
            let span = crate::text::File::new(PATH, "").span(0..0);
            return (
                Lint::default(),
                vec![Finding::error(INVALID_CONFIG, span, format!("`{PATH}` cannot be read: {error}"))],
            );
        }
    };
    let parsed = crate::yaml::parse(&file);
    let mut findings = parsed.findings;
    let Some(first) = parsed.documents.first() else {
        if findings.is_empty() {
            let help = "write `apiVersion: fleetwright.dev/v1alpha1` and `kind: Config`, or delete the file";
            findings.push(Finding::error(INVALID_CONFIG, file.first_line(), format!("`{PATH}` is empty")).help(help));
        }
        return (Lint::default(), findings);
    };
    if let Some(second) = parsed.documents.get(1) {
        let finding = Finding::error(INVALID_CONFIG, second.node.span().clone(), format!("`{PATH}` has one document"));
        findings.push(finding.related(first.node.span().clone(), "the first one begins here"));
    }
    findings.extend(CHECKER.check(&first.node));
    let lint = first.node.get("lint").map_or_else(Lint::default, lint);
    crate::finding::sort(&mut findings);
    (lint, findings)
}

/// Reads a `lint` section, as far as it is right: an exception with a mistake in it excepts nothing.
pub fn lint(section: &Node) -> Lint {
    let exceptions = section.get("exceptions").map(Node::items).unwrap_or_default();
    let read = |node: &Node| crate::yaml::decode::<Exception>(node, Reader::Core).ok();
    let valid = |exception: &Exception| !exception.reason.trim().is_empty();
    Lint { exceptions: exceptions.iter().filter_map(read).filter(valid).collect() }
}
