//! What `.fleetwright.yaml` says of a repository: how it is judged (the `lint` section, which fleet.yaml shares), where
//! copies of other repositories lie, which Flux runs, and what the clusters have from elsewhere.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::schema::{Checker, Fault, Word, publish};
use crate::text::{File, Tree};
use crate::yaml::{Node, Reader};

/// The file at the root of a repository that says how it is judged.
pub const PATH: &str = ".fleetwright.yaml";
/// The rule of mistakes in it.
const INVALID_CONFIG: &str = "invalid-config";
/// The pattern of a rule's id.
const RULE_ID: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The pattern of a text that says something.
const SAID: &str = r"\S";
/// The pattern of a version of Flux.
const FLUX_VERSION: &str = r"^v?[0-9]+(\.[0-9]+){0,2}(\.x)?$";
/// The format of the path of a copy.
const COPY_PATH: &str = "copy-path";

/// What the patterns of the `lint` section mean.
pub const WORDS: &[Word] = &[Word { mark: RULE_ID, fault: rule_id }, Word { mark: SAID, fault: said }];

/// What the patterns and formats of the whole file mean.
const ALL_WORDS: &[Word] =
    &[WORDS[0], WORDS[1], Word { mark: FLUX_VERSION, fault: flux_version }, Word { mark: COPY_PATH, fault: copy_path }];

/// A configuration.
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
    /// The version of Flux that runs where nothing in the repository says it.
    #[serde(default)]
    #[schemars(schema_with = "flux_version_schema", example = &"2.9")]
    pub flux_version: Option<Version>,
    /// What differs by cluster.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"staging": {"fluxVersion": "2.10"}}))]
    pub clusters: BTreeMap<String, ClusterConfig>,
    /// Where copies of the repositories and artifacts lie that clusters build from; `--source` says the same.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"url": "https://github.com/acme/apps.git", "path": "../apps"}]))]
    pub sources: Vec<SourceCopy>,
    /// `ConfigMap`s and `Secret`s that no manifest makes but the clusters have: written by Terraform, by an operator, by hand.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"kind": "ConfigMap", "namespace": "flux-system", "name": "cluster-info", "data": {"REGION": "eu-1"}, "keys": ["ACCOUNT_ID"]}]))]
    pub external: Vec<External>,
}

/// What differs on a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfig {
    /// The version of Flux that runs there.
    #[serde(default)]
    #[schemars(schema_with = "flux_version_schema", example = &"2.9.4")]
    pub flux_version: Option<Version>,
}

/// A version of Flux as written: `2.9`, `v2.9.4`, `2.x`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Version(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// A copy of what a source fetches.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceCopy {
    /// The URL as the source names it.
    #[schemars(length(min = 1), example = &"https://github.com/acme/apps.git")]
    pub url: String,
    /// The branch, tag or version that the copy is of; any when left out.
    #[serde(default, rename = "ref")]
    #[schemars(length(min = 1), example = &"production")]
    pub reference: Option<String>,
    /// The folder of the copy, relative to this file.
    #[schemars(length(min = 1), extend("format" = COPY_PATH), example = &"../apps")]
    pub path: String,
}

/// An object that the clusters have although no manifest makes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// `ConfigMap` or `Secret`.
    #[schemars(example = &"ConfigMap")]
    pub kind: ExternalKind,
    /// Its namespace.
    #[schemars(length(min = 1), example = &"flux-system")]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1), example = &"cluster-info")]
    pub name: String,
    /// The values that are known, by key.
    #[serde(default)]
    #[schemars(schema_with = "data_schema", example = serde_json::json!({"REGION": "eu-1"}))]
    pub data: BTreeMap<String, Text>,
    /// The keys whose values are not known. With neither these nor `data`, it may have any key.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["ACCOUNT_ID"]))]
    pub keys: Vec<String>,
    /// The clusters that have it; all when left out.
    #[serde(default)]
    #[schemars(example = serde_json::json!(["prod-eu"]))]
    pub clusters: Vec<String>,
}

/// The kinds that may be declared external.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are Kubernetes'")]
pub enum ExternalKind {
    ConfigMap,
    Secret,
}

impl ExternalKind {
    /// The kind as manifests write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// A scalar that is kept as it is written, quoted or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Text(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// What a configuration says, as far as it is right.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How the linter judges the repository.
    pub lint: Lint,
    /// The version of Flux where nothing in the repository says it.
    pub flux_version: Option<Version>,
    /// What differs by cluster.
    pub clusters: BTreeMap<String, ClusterConfig>,
    /// Where copies of sources lie.
    pub sources: Vec<SourceCopy>,
    /// What clusters have from elsewhere.
    pub external: Vec<Declared>,
}

/// An external object and where it is declared.
#[derive(Debug, Clone)]
pub struct Declared {
    /// What is said.
    pub external: External,
    /// The item of `external`, whose nodes have the places.
    pub node: Node,
}

impl Settings {
    /// The version of Flux that the configuration says a cluster has.
    pub fn flux_version(&self, cluster: &str) -> Option<&str> {
        let own = self.clusters.get(cluster).and_then(|cluster| cluster.flux_version.as_ref());
        own.or(self.flux_version.as_ref()).map(|version| version.0.as_str())
    }
}

impl Declared {
    /// Tells whether a cluster has it.
    pub fn is_on(&self, cluster: &str) -> bool {
        let clusters = &self.external.clusters;
        clusters.is_empty() || clusters.iter().any(|name| name == cluster)
    }
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

fn flux_version_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number"], "pattern": FLUX_VERSION })
}

fn data_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
}

#[expect(clippy::unnecessary_wraps, reason = "it is called for texts that do not fit")]
fn flux_version(text: &str) -> Option<Fault> {
    let message = format!("is `{text}`, which is no version of Flux");
    Some(Fault { rule: None, message, help: "for example `2.9` or `2.9.4`".into() })
}

/// A repository that nobody vouches for may bring the file: it reaches its neighbours, and no further by their names.
fn copy_path(text: &str) -> Option<Fault> {
    let absolute = text.starts_with(['/', '\\', '~']) || text.get(1..2) == Some(":");
    absolute.then(|| Fault {
        rule: None,
        message: format!("is `{text}`, an absolute path"),
        help: "write it relative to this file, as `../apps`, or give the folder on the command line with `--source`"
            .into(),
    })
}

/// The schema of `.fleetwright.yaml`.
pub fn schema() -> serde_json::Value {
    publish::<Config>(PATH, "How fleetwright reads and judges a repository.")
}

static CHECKER: LazyLock<Checker> = LazyLock::new(|| Checker::new(schema(), INVALID_CONFIG, ALL_WORDS));

/// Reads `.fleetwright.yaml` at the root of a tree; a tree without one is judged by the defaults.
pub fn load(tree: &Tree) -> (Settings, Vec<Finding>) {
    if !tree.has_file(PATH) {
        return (Settings::default(), Vec::new());
    }
    match tree.file(PATH) {
        Ok(file) => read(&file),
        Err(error) => {
            let span = File::new(PATH, "").span(0..0);
            let message = format!("`{PATH}` cannot be read: {error}");
            (Settings::default(), vec![Finding::error(INVALID_CONFIG, span, message)])
        }
    }
}

/// Reads a configuration, as far as it is right.
pub fn read(file: &File) -> (Settings, Vec<Finding>) {
    let path = file.path();
    let parsed = crate::yaml::parse(file);
    let mut findings = parsed.findings;
    let Some(first) = parsed.documents.first() else {
        if findings.is_empty() {
            let help = "write `apiVersion: fleetwright.dev/v1alpha1` and `kind: Config`, or delete the file";
            findings.push(Finding::error(INVALID_CONFIG, file.first_line(), format!("`{path}` is empty")).help(help));
        }
        return (Settings::default(), findings);
    };
    if let Some(second) = parsed.documents.get(1) {
        let finding = Finding::error(INVALID_CONFIG, second.node.span().clone(), format!("`{path}` has one document"));
        findings.push(finding.related(first.node.span().clone(), "the first one begins here"));
    }
    findings.extend(CHECKER.check(&first.node));
    crate::finding::sort(&mut findings);
    (settings(&first.node), findings)
}

fn settings(root: &Node) -> Settings {
    let items = |field: &str| root.get(field).map(Node::items).unwrap_or_default();
    let external = |node: &Node| Some(Declared { external: decode(node)?, node: node.clone() });
    let clusters = root.get("clusters").map(Node::entries).unwrap_or_default().iter();
    Settings {
        lint: root.get("lint").map_or_else(Lint::default, lint),
        flux_version: root.get("fluxVersion").and_then(decode),
        clusters: clusters.filter_map(|entry| Some((entry.key.to_string(), decode(&entry.node)?))).collect(),
        sources: items("sources").iter().filter_map(decode).collect(),
        external: items("external").iter().filter_map(external).collect(),
    }
}

fn decode<T: serde::de::DeserializeOwned>(node: &Node) -> Option<T> {
    crate::yaml::decode(node, Reader::Core).ok().filter(|_| !node.is_null())
}

/// Reads a `lint` section, as far as it is right: an exception with a mistake in it excepts nothing.
pub fn lint(section: &Node) -> Lint {
    let exceptions = section.get("exceptions").map(Node::items).unwrap_or_default();
    let valid = |exception: &Exception| !exception.reason.trim().is_empty();
    Lint { exceptions: exceptions.iter().filter_map(decode).filter(valid).collect() }
}
