//! The document `.fleetwright.yaml`: its fields, and how it is read.

use super::decode::decode;
use super::external::{Declared, External};
use super::lint::{Lint, check};
use super::named_clusters::{self, NamedCluster};
use super::words::{ALL_WORDS, COPY_PATH, FLUX_VERSION};
use crate::base::finding::Finding;
use crate::schema::{Checker, publish};
use crate::text::{File, Span, Tree};
use crate::yaml::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file at the root of a repository that says how it is judged.
pub const PATH: &str = ".fleetwright.yaml";

/// The rule of mistakes in it.
pub const INVALID_CONFIG: &str = "invalid-config";

/// A configuration.
#[derive(Debug, Clone, JsonSchema)]
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
    /// Directories of this repository with copies of the repositories and artifacts that clusters build from. `--source`
    /// names the others.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"url": "https://github.com/acme/apps.git", "path": "vendor/apps"}]))]
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
    /// The directory of the copy, relative to this file. It lies in the repository, unless this file lies outside of it
    /// or `--trust-config` is set.
    #[schemars(length(min = 1), extend("format" = COPY_PATH), example = &"vendor/apps")]
    pub path: String,
}

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
    pub sources: Vec<DeclaredCopy>,
    /// What clusters have from elsewhere.
    pub external: Vec<Declared>,
    /// The clusters that it names outside of its `lint` section.
    pub named_clusters: Vec<NamedCluster>,
}

impl Settings {
    /// The version of Flux that the configuration says a cluster has.
    pub fn flux_version(&self, cluster: &str) -> Option<&str> {
        let own = self.clusters.get(cluster).and_then(|cluster| cluster.flux_version.as_ref());
        own.or(self.flux_version.as_ref()).map(|version| version.0.as_str())
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

fn flux_version_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number"], "pattern": FLUX_VERSION })
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
    findings.extend(first.node.get("lint").map(|section| check(section, INVALID_CONFIG)).unwrap_or_default());
    crate::base::finding::sort(&mut findings);
    (settings(&first.node), findings)
}

fn settings(root: &Node) -> Settings {
    let items = |field: &str| root.get(field).map(Node::items).unwrap_or_default();
    let external = |node: &Node| Some(Declared { external: decode(node)?, node: node.clone() });
    let copy = |node: &Node| Some(DeclaredCopy { copy: decode(node)?, at: node.get("path")?.span().clone() });
    let clusters = root.get("clusters").map(Node::entries).unwrap_or_default().iter();
    Settings {
        lint: root.get("lint").map_or_else(Lint::default, Lint::read),
        flux_version: root.get("fluxVersion").and_then(decode),
        clusters: clusters.filter_map(|entry| Some((entry.key.to_string(), decode(&entry.node)?))).collect(),
        sources: items("sources").iter().filter_map(copy).collect(),
        external: items("external").iter().filter_map(external).collect(),
        named_clusters: named_clusters::of_config(root),
    }
}

/// A copy and the place of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredCopy {
    /// The copy.
    pub copy: SourceCopy,
    /// The value of `path`.
    pub at: Span,
}
