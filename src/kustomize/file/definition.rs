//! A kustomization.yaml: finding it, reading its fields, naming what it refers to.

use std::sync::Arc;

use super::files::{Files, Reading};
use super::kustomization_fields;
use crate::base::finding::Finding;
use crate::text::{folder_of, join};
use crate::yaml::{Entry, Node, Parsed, Value};

/// The names that kustomize looks for in a folder.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// One kustomization.yaml.
pub(crate) struct Definition {
    /// Its root, a mapping, with the fields in kustomize's spelling.
    pub(crate) node: Node,
    /// What kustomize refuses of its fields.
    pub(crate) findings: Vec<Finding>,
    /// What was read of its file.
    pub(crate) parsed: Arc<Parsed>,
    /// The folder it stands in.
    pub(crate) folder: String,
}

impl Definition {
    /// A kustomization that says `node`, in a folder.
    pub(crate) fn new(node: &Node, parsed: Arc<Parsed>, folder: &str) -> Self {
        let (node, findings) =
            if node.is_map() { kustomization_fields::check(node) } else { (node.clone(), Vec::new()) };
        Self { node, findings, parsed, folder: folder.to_owned() }
    }

    /// The entry of a field that says something.
    pub(crate) fn entry(&self, field: &str) -> Option<&Entry> {
        self.node.entry(field).filter(|entry| !entry.node.is_null())
    }

    /// The items of a field that holds a list.
    pub(crate) fn items(&self, field: &str) -> &[Node] {
        self.entry(field).map_or(&[], |entry| entry.node.items())
    }

    /// Its file's path in the tree.
    pub(crate) fn path(&self) -> String {
        let name = self.parsed.file.path().rsplit('/').next().unwrap_or_default();
        if self.folder.is_empty() { name.to_string() } else { format!("{}/{name}", self.folder) }
    }

    /// Tells whether it is a component, which only other kustomizations can use.
    pub(crate) fn is_component(&self) -> bool {
        self.entry("kind").is_some_and(|entry| entry.node.text() == Some("Component"))
    }

    /// Tells whether nothing is said: kustomize refuses that. An empty list says something, but not that of a field
    /// whose items kustomize adds to another one's.
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

/// The entry of a field, whatever the case of its letters.
fn entry_ignoring_case<'a>(node: &'a Node, field: &str) -> Option<&'a Entry> {
    let exact = node.entry(field);
    exact.or_else(|| node.entries().iter().find(|entry| entry.key.eq_ignore_ascii_case(field)))
}

/// The kustomization files of a folder: those of the recognised names that do not hold another program's object.
///
/// A file called `kustomization.yaml` may well hold Flux's kind of that name.
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

pub(crate) fn read(files: &Files, path: &str) -> Option<Definition> {
    let parsed = files.get(path)?;
    let node = parsed.documents.first().map(|document| document.node.clone()).filter(is_first)?;
    Some(Definition::new(&node, parsed, folder_of(path)))
}

/// Tells whether a document stands in the first place of its file. kustomize reads that one alone, and what was parsed
/// leaves empty documents out.
fn is_first(node: &Node) -> bool {
    let before = node.span().file().text().get(..node.span().range().start).unwrap_or_default();
    before.lines().filter(|line| line.trim_end() == "---" || line.starts_with("--- ")).count() < 2
}

/// The paths, from the tree's root, of everything a kustomization file refers to: folders it includes, resources,
/// patches, and the files of its generators and configurations.
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
                let paths = texts.map(|text| text.split_once('=').map_or(text, |(_, path)| path));
                references.named.extend(paths.filter_map(|path| join(&definition.folder, path)));
            }
        }
    }
    if let Some(openapi) = definition.entry("openapi") {
        references.named.extend(openapi.node.get("path").and_then(target));
    }
    references
}

/// What a kustomization file refers to.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// Files and folders whose objects it takes.
    pub included: Vec<String>,
    /// Files it reads for something else: patches, values, configuration.
    pub named: Vec<String>,
}
