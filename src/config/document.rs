//! The file `.fleetwright.yaml`: its fields, and the functions that read the file.

use super::decode::decode;
use super::external::{Declared, External};
use super::formats::{ALL_WORDS, COPY_PATH, FLUX_VERSION, NAMESPACE, ROOT_PATH, SOURCE_NAME};
use super::lint::{Lint, check};
use super::named_clusters::{self, NamedCluster};
use crate::base::finding::Finding;
use crate::schema::{Checker, publish};
use crate::text::{File, Span, Tree};
use crate::yaml::{Entry, Node};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The path of the configuration, at the root of a repository.
pub const PATH: &str = ".fleetwright.yaml";

/// The rule id for errors in the configuration.
pub const INVALID_CONFIG: &str = "invalid-config";

/// The configuration of fleetwright for a repository.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The API version: `fleetwright.dev/v1alpha1`.
    #[schemars(example = &"fleetwright.dev/v1alpha1")]
    pub api_version: ApiVersion,
    /// The kind: `Config`.
    #[schemars(example = &"Config")]
    pub kind: ConfigKind,
    /// The configuration of the linter.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"exceptions": [{"rule": "missing-prune", "reason": "the data must survive its Kustomization"}]}))]
    pub lint: Option<Lint>,
    /// The Flux version of clusters for which the repository does not define one.
    #[serde(default)]
    #[schemars(schema_with = "flux_version_schema", example = &"2.9")]
    pub flux_version: Option<Version>,
    /// The overrides by cluster.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"staging": {"fluxVersion": "2.10"}}))]
    pub clusters: BTreeMap<String, ClusterConfig>,
    /// The directories of this repository with copies of the repositories and artifacts that clusters build from. The option
    /// `--source` sets the directories of other copies.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"url": "https://github.com/acme/apps.git", "path": "vendor/apps"}]))]
    pub sources: Vec<SourceCopy>,
    /// The directories of this repository with CustomResourceDefinitions of kinds whose definitions clusters do not receive
    /// from it.
    #[serde(default)]
    #[schemars(schema_with = "folders_schema", example = serde_json::json!(["schemas"]))]
    pub schemas: Vec<DeclaredFolder>,
    /// The `ConfigMap`s and `Secret`s of clusters that no manifest defines, such as objects that Terraform or an operator creates.
    #[serde(default)]
    #[schemars(example = serde_json::json!([{"kind": "ConfigMap", "namespace": "flux-system", "name": "cluster-info", "data": {"REGION": "eu-1"}, "keys": ["ACCOUNT_ID"]}]))]
    pub external: Vec<External>,
}

/// The overrides for a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterConfig {
    /// The Flux version of the cluster.
    #[serde(default)]
    #[schemars(schema_with = "flux_version_schema", example = &"2.9.4")]
    pub flux_version: Option<Version>,
    /// The root of the cluster, if a platform configures Flux elsewhere, such as Terraform, Cluster API or a chart.
    #[serde(default)]
    #[schemars(example = serde_json::json!({"path": "clusters/staging"}))]
    pub root: Option<RootConfig>,
}

/// The directory with which Flux starts on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootConfig {
    /// The directory that Flux applies, relative to this file.
    #[schemars(length(min = 1), extend("format" = ROOT_PATH), example = &"clusters/staging")]
    pub path: String,
    /// The name of the source that contains the repository, with its kind if it is not a GitRepository, as in
    /// `OCIRepository/flux-system`. Kustomizations reference it. Defaults to `flux-system`.
    #[serde(default = "flux_system")]
    #[schemars(regex(pattern = SOURCE_NAME), example = &"flux-system")]
    pub source: String,
    /// The namespace of Flux. Defaults to `flux-system`.
    #[serde(default = "flux_system")]
    #[schemars(regex(pattern = NAMESPACE), example = &"flux-system")]
    pub namespace: String,
}

fn flux_system() -> String {
    "flux-system".to_owned()
}

/// A root and its declaration.
#[derive(Debug, Clone)]
pub struct DeclaredRoot {
    /// The name of the cluster.
    pub cluster: String,
    /// The root.
    pub root: RootConfig,
    /// The node of the field `path`.
    pub path: Node,
    /// The directory of the tree that is the root of the source.
    pub repository: String,
}

/// A Flux version as written: `2.9`, `v2.9.4`, `2.x`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Version(#[serde(deserialize_with = "crate::yaml::text")] pub String);

/// A copy of a source's content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceCopy {
    /// The URL of the source, as in its `spec.url`.
    #[schemars(length(min = 1), example = &"https://github.com/acme/apps.git")]
    pub url: String,
    /// The branch, tag or version of the copy. Defaults to any revision.
    #[serde(default, rename = "ref")]
    #[schemars(length(min = 1), example = &"production")]
    pub reference: Option<String>,
    /// The directory of the copy, relative to this file. It must be in the repository, unless this file is outside of the
    /// repository or `--trust-config` is set.
    #[schemars(length(min = 1), extend("format" = COPY_PATH), example = &"vendor/apps")]
    pub path: String,
}

/// The valid part of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The configuration of the linter.
    pub lint: Lint,
    /// The Flux version of clusters for which the repository does not define one.
    pub flux_version: Option<Version>,
    /// The overrides by cluster.
    pub clusters: BTreeMap<String, ClusterConfig>,
    /// The declared roots of clusters.
    pub roots: Vec<DeclaredRoot>,
    /// The copies of sources.
    pub sources: Vec<DeclaredCopy>,
    /// The directories with definitions of kinds.
    pub schemas: Vec<DeclaredFolder>,
    /// The objects of clusters that no manifest defines.
    pub external: Vec<Declared>,
    /// The cluster names outside of the `lint` section.
    pub named_clusters: Vec<NamedCluster>,
}

impl Settings {
    /// Returns the configured Flux version of a cluster.
    pub fn flux_version(&self, cluster: &str) -> Option<&str> {
        let own = self.clusters.get(cluster).and_then(|cluster| cluster.flux_version.as_ref());
        own.or(self.flux_version.as_ref()).map(|version| version.0.as_str())
    }
}

/// The API version of the configuration.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first version.
    #[serde(rename = "fleetwright.dev/v1alpha1")]
    V1Alpha1,
}

/// The kind of the configuration.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum ConfigKind {
    /// The only kind.
    Config,
}

fn flux_version_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number"], "pattern": FLUX_VERSION })
}

fn folders_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1, "format": COPY_PATH } })
}

/// Returns the schema of `.fleetwright.yaml`.
pub fn schema() -> serde_json::Value {
    publish::<Config>(PATH, "The configuration of fleetwright for a repository.")
}

static CHECKER: LazyLock<Checker> = LazyLock::new(|| Checker::new(schema(), INVALID_CONFIG, ALL_WORDS));

/// Reads `.fleetwright.yaml` at the root of a tree. Without the file, the defaults apply.
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

/// Reads the valid part of a configuration.
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
        let finding = Finding::error(
            INVALID_CONFIG,
            second.node.span().clone(),
            format!("`{path}` has more than one YAML document"),
        );
        findings.push(finding.related(first.node.span().clone(), "the first document starts here"));
    }
    findings.extend(CHECKER.check(&first.node));
    findings.extend(first.node.get("lint").map(|section| check(section, INVALID_CONFIG)).unwrap_or_default());
    crate::base::group_findings::sort(&mut findings);
    (settings(&first.node), findings)
}

fn settings(root: &Node) -> Settings {
    let items = |field: &str| root.get(field).map(Node::items).unwrap_or_default();
    let external = |node: &Node| Some(Declared { external: decode(node)?, node: node.clone() });
    let copy = |node: &Node| Some(DeclaredCopy { copy: decode(node)?, at: node.get("path")?.span().clone() });
    let directory = |node: &Node| Some(DeclaredFolder { path: decode(node)?, at: node.span().clone() });
    let clusters = || root.get("clusters").map(Node::entries).unwrap_or_default().iter();
    let declared = |entry: &Entry| {
        let node = entry.node.get("root")?;
        Some(DeclaredRoot {
            cluster: entry.key.to_string(),
            root: decode(node)?,
            path: node.get("path")?.clone(),
            repository: String::new(),
        })
    };
    Settings {
        lint: root.get("lint").map_or_else(Lint::default, Lint::read),
        flux_version: root.get("fluxVersion").and_then(decode),
        roots: clusters().filter_map(declared).collect(),
        clusters: clusters().filter_map(|entry| Some((entry.key.to_string(), decode(&entry.node)?))).collect(),
        sources: items("sources").iter().filter_map(copy).collect(),
        schemas: items("schemas").iter().filter_map(directory).collect(),
        external: items("external").iter().filter_map(external).collect(),
        named_clusters: named_clusters::of_config(root),
    }
}

/// A copy of a source and the place of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredCopy {
    /// The copy.
    pub copy: SourceCopy,
    /// The position of the field `path`.
    pub at: Span,
}

/// A directory and the place of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredFolder {
    /// The path, relative to the configuration.
    pub path: String,
    /// The position of the path.
    pub at: Span,
}
