//! A kustomization file: its fields and the files that it references.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::files::{Files, Reading, is_yaml};
use super::kustomization_fields;
use crate::base::finding::Finding;
use crate::kustomize::rule_ids::FAILED_BUILD;
use crate::text::{folder_of, join};
use crate::yaml::go::is_field;
use crate::yaml::{Entry, Node, Parsed, Value};

/// The names of kustomization files.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A kustomization file.
pub(crate) struct Definition {
    /// The root mapping, with the fields in kustomize's spelling.
    pub(crate) node: Node,
    /// The errors in the fields.
    pub(crate) findings: Vec<Finding>,
    /// The parsed file.
    pub(crate) parsed: Arc<Parsed>,
    /// The directory of the file.
    pub(crate) folder: String,
    /// The paths of the directories and files that the kustomization includes.
    included: OnceLock<BTreeSet<String>>,
}

impl Definition {
    /// Creates the definition of a kustomization `node` in a directory.
    pub(crate) fn new(node: &Node, parsed: Arc<Parsed>, folder: &str) -> Self {
        let (node, findings) =
            if node.is_map() { kustomization_fields::check(node) } else { (node.clone(), Vec::new()) };
        Self { node, findings, parsed, folder: folder.to_owned(), included: OnceLock::new() }
    }

    /// The entry of a field; `None` if its value is null.
    pub(crate) fn entry(&self, field: &str) -> Option<&Entry> {
        self.node.entry(field).filter(|entry| !entry.node.is_null())
    }

    /// The items of a list field.
    pub(crate) fn items(&self, field: &str) -> &[Node] {
        self.entry(field).map_or(&[], |entry| entry.node.items())
    }

    /// Returns whether the kustomization includes a path of the tree. kustomize rejects a second inclusion.
    pub(crate) fn includes(&self, path: &str) -> bool {
        let included = self.included.get_or_init(|| {
            let items = ["resources", "bases", "components"].into_iter().flat_map(|field| self.items(field));
            items.filter_map(|item| join(&self.folder, item.text()?)).collect()
        });
        included.contains(path)
    }

    /// The path of the file in the tree.
    pub(crate) fn path(&self) -> String {
        let name = self.parsed.file.path().rsplit('/').next().unwrap_or_default();
        if self.folder.is_empty() { name.to_string() } else { format!("{}/{name}", self.folder) }
    }

    /// Returns whether the file is a Component, which only `components` can include.
    pub(crate) fn is_component(&self) -> bool {
        self.entry("kind").is_some_and(|entry| entry.node.text() == Some("Component"))
    }

    /// Returns whether the kustomization is empty, so that kustomize rejects it.
    ///
    /// An empty list is content, except in a field that kustomize merges into another field.
    pub(crate) fn is_empty(&self) -> bool {
        let has_value = |entry: &Entry| match (&*entry.key, &entry.node.value) {
            ("apiVersion" | "kind", _) => false,
            ("bases" | "imageTags" | "helmChartInflationGenerator", Value::Seq(items)) => !items.is_empty(),
            (_, Value::Scalar(text, _)) => !entry.node.is_null() && !text.is_empty(),
            (_, Value::Seq(_) | Value::Map(_)) => true,
        };
        self.findings.is_empty() && !self.node.entries().iter().any(has_value)
    }
}

/// The entry of a field; the case of letters does not matter.
fn entry_ignoring_case<'a>(node: &'a Node, field: &str) -> Option<&'a Entry> {
    let exact = node.entry(field);
    exact.or_else(|| node.entries().iter().find(|entry| is_field(&entry.key, field)))
}

/// The kustomization files of a directory.
///
/// A file `kustomization.yaml` may also contain a Flux Kustomization; such a file is excluded.
pub fn file_in(files: &Files, folder: &str) -> Vec<String> {
    let paths = FILE_NAMES.iter().filter_map(|name| join(folder, name));
    paths.filter(|path| files.has(folder, path)).filter(|path| is_kustomization(files, path)).collect()
}

fn is_kustomization(files: &Files, path: &str) -> bool {
    if files.reading() != Reading::Flux {
        return true;
    }
    let Some(parsed) = files.get(path) else { return true };
    let Some(document) = parsed.documents.first() else { return true };
    let text =
        |field| entry_ignoring_case(&document.node, field).and_then(|entry| entry.node.text()).unwrap_or_default();
    let version = text("apiVersion");
    version.is_empty() || !version.contains('/') || version.starts_with("kustomize.config.k8s.io/")
}

/// Reads a kustomization file; `None` if the file has no first document.
pub(crate) fn read(files: &Files, path: &str) -> Option<Definition> {
    let parsed = files.get(path)?;
    let node = parsed.documents.first().map(|document| document.node.clone()).filter(is_first)?;
    Some(Definition::new(&node, parsed, folder_of(path)))
}

/// Returns whether a document is the first document of its file.
///
/// kustomize reads only the first document, and the parser removes empty documents.
fn is_first(node: &Node) -> bool {
    let before = node.span().file().text().get(..node.span().range().start).unwrap_or_default();
    before.lines().filter(|line| line.trim_end() == "---" || line.starts_with("--- ")).count() < 2
}

/// The finding for the documents of a kustomization file after the first one, which kustomize and Flux ignore.
pub fn ignored_documents(parsed: &Parsed) -> Option<Finding> {
    let (_, ignored) = parsed.documents.split_first()?;
    let first = ignored.first()?.node.span().clone();
    let message = match ignored.len() {
        1 => "kustomize reads only the first document of a kustomization file, and ignores this document".to_string(),
        count => {
            format!("kustomize reads only the first document of a kustomization file, and ignores {count} documents")
        }
    };
    let help = "move the content of each further document to the first document, or to the kustomization file of \
                another directory";
    Some(Finding::warning(FAILED_BUILD, first, message).help(help))
}

/// The references of a kustomization file, as paths from the root of the tree.
pub fn references_of(files: &Files, path: &str) -> References {
    let mut references = References::default();
    let Some(definition) = read(files, path) else { return references };
    let target = |node: &Node| node.text().and_then(|text| join(&definition.folder, text));
    for field in ["resources", "bases", "components"] {
        references.included.extend(definition.items(field).iter().filter_map(target));
    }
    for field in ["patches", "patchesJson6902", "replacements"] {
        let paths = definition.items(field).iter().filter_map(|item| item.get("path"));
        references.named.extend(paths.filter_map(target));
    }
    for field in ["patchesStrategicMerge", "configurations", "crds", "generators", "transformers", "validators"] {
        let short = definition.items(field).iter().filter(|node| node.text().is_some_and(|text| !text.contains('\n')));
        references.named.extend(short.filter_map(target));
    }
    for chart in definition.items("helmCharts") {
        references.named.extend(chart.get("valuesFile").and_then(target));
        let more = chart.get("additionalValuesFiles").map_or(&[][..], Node::items);
        references.named.extend(more.iter().filter_map(target));
    }
    for field in ["configMapGenerator", "secretGenerator"] {
        for generator in definition.items(field) {
            for list in ["files", "envs"] {
                let items = generator.get(list).map_or(&[][..], Node::items);
                let texts = items.iter().filter_map(Node::text);
                // A file with a key such as `custom.js` is not YAML, whatever its own name is.
                let is_other = |key: &str| key.contains('.') && !is_yaml(key);
                let pairs = texts.map(|text| text.split_once('=').unwrap_or(("", text)));
                let paths = pairs.filter(|(key, _)| !is_other(key)).map(|(_, path)| path);
                references.data.extend(paths.filter_map(|path| join(&definition.folder, path)));
            }
        }
    }
    if let Some(openapi) = definition.entry("openapi") {
        references.named.extend(openapi.node.get("path").and_then(target));
    }
    references
}

/// The files and directories that a kustomization file references.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// The files and directories from which the kustomization includes objects.
    pub included: Vec<String>,
    /// The files that the kustomization reads for other purposes: patches, values, configuration.
    pub named: Vec<String>,
    /// The files that generators copy as text.
    pub data: Vec<String>,
}
