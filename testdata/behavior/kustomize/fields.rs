//! Every field that kustomize knows is shown by a case: one that builds, and builds to something else without the field.

use std::path::{Path, PathBuf};

use fleetwright::disk;
use fleetwright::kustomize::{FILE_NAMES, Reading, fields, plugin_fields};
use fleetwright::text::{File, Tree, folder_of, join};
use fleetwright::yaml::{Entry, Node, Style, Value, parse, print};

use crate::support::{entries, kustomize, printed, testdata};

/// Fields that no case shows, with all that is in them, and why.
const SHOWN_BY_NONE: &[(&str, &str)] = &[
    ("apiVersion", "it says what the file is and nothing more"),
    ("metadata", "nothing that is built depends on it"),
    ("helmGlobals", "charts are not inflated"),
    ("helmCharts", "charts are not inflated: `refused-helm`"),
    ("helmChartInflationGenerator", "charts are not inflated: `refused-helm`"),
    ("validators", "what is valid comes out as it is; what is not: `refused-validator`"),
    ("patchesJson6902.options", "a JSON patch may rename whatever is said"),
    ("patchesJson6902.target.labelSelector", "the target is one object, by its identity"),
    ("patchesJson6902.target.annotationSelector", "the target is one object, by its identity"),
    ("replacements.source.options.create", "a source is not made"),
    ("replacements.source.options.encoding", "kustomize knows the field and does nothing for it"),
    ("replacements.targets.options.encoding", "kustomize knows the field and does nothing for it"),
    ("replacements.targets.reject.labelSelector", "what is rejected is known by its identity"),
    ("replacements.targets.reject.annotationSelector", "what is rejected is known by its identity"),
    ("ConfigMapGenerator.env", "kustomize reads it in a kustomization only"),
    ("SecretGenerator.env", "kustomize reads it in a kustomization only"),
    ("ImageTagTransformer.fieldSpecs.create", "no image is made where none is"),
    ("NamespaceTransformer.metadata.labels", "nothing that is built depends on it"),
    ("NamespaceTransformer.metadata.annotations", "nothing that is built depends on it"),
    ("PatchJson6902Transformer.target.labelSelector", "the target is one object, by its identity"),
    ("PatchJson6902Transformer.target.annotationSelector", "the target is one object, by its identity"),
    ("ReplacementTransformer.replacements.source.options.create", "a source is not made"),
    ("ReplacementTransformer.replacements.source.options.encoding", "kustomize does nothing for it"),
    ("ReplacementTransformer.replacements.targets.options.encoding", "kustomize does nothing for it"),
    ("ReplacementTransformer.replacements.targets.reject.labelSelector", "identity decides"),
    ("ReplacementTransformer.replacements.targets.reject.annotationSelector", "identity decides"),
];

/// What a transformer configuration may say.
const CONFIGURATION: &[&str] = &[
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "commonAnnotations",
    "nameReference",
    "varReference",
    "images",
    "replicas",
];

/// A case, with the files that say something to kustomize.
struct Case {
    name: String,
    tree: Tree,
    folder: String,
    reading: Reading,
    built: String,
    files: Vec<(Holds, String, Vec<Node>)>,
}

impl Case {
    fn read(case: &Path) -> Self {
        let tree = disk::read(&case.join("in")).unwrap();
        let folder = std::fs::read_to_string(case.join("folder")).unwrap_or_default().trim().to_owned();
        let reading = if case.join("restricted").exists() { Reading::Kustomize } else { Reading::Unrestricted };
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let built = printed(&kustomize(&tree, &folder, reading));
        let files = files(&tree);
        Self { name, tree, folder, reading, built, files }
    }

    /// Tells whether the case is another one when a file says something else.
    fn depends_on(&self, path: &str, documents: &[Node]) -> bool {
        let mut tree = self.tree.clone();
        tree.insert(File::new(path, print(documents)));
        let build = kustomize(&tree, &self.folder, self.reading);
        !build.findings.is_empty() || printed(&build) != self.built
    }
}

/// The node without a field, wherever it stands in lists and in mappings; `None` when it is not there.
fn without(node: &Node, path: &[&str]) -> Option<Node> {
    let (first, rest) = path.split_first()?;
    match &node.value {
        Value::Seq(items) => {
            let changed: Vec<Option<Node>> = items.iter().map(|item| without(item, path)).collect();
            changed.iter().any(Option::is_some).then(|| {
                let items = items.iter().zip(changed).map(|(item, changed)| changed.unwrap_or_else(|| item.clone()));
                Node { value: Value::Seq(items.collect()), origin: node.origin.clone() }
            })
        }
        Value::Map(entries) => {
            let entry = node.entry(first)?;
            if rest.is_empty() {
                return Some(node.without(first));
            }
            let changed = without(&entry.node, rest)?;
            let entries = entries
                .iter()
                .map(|entry| if &*entry.key == *first { entry.with_node(changed.clone()) } else { entry.clone() });
            Some(Node { value: Value::Map(entries.collect::<Vec<Entry>>().into()), origin: node.origin.clone() })
        }
        Value::Scalar(..) => None,
    }
}

/// The node whose texts are YAML, with a field of the mappings in them taken out.
fn without_inside(node: &Node, change: &dyn Fn(&Node) -> Option<Node>) -> Option<Node> {
    match &node.value {
        Value::Scalar(text, _) if text.contains('\n') => {
            let inner = parse(&File::new("inside.yaml", text.to_string()));
            let documents: Vec<Node> = inner.documents.into_iter().map(|document| document.node).collect();
            let changed = changed(&documents, change)?;
            let value = Value::Scalar(print(&changed).into(), Style::Literal);
            Some(Node { value, origin: node.origin.clone() })
        }
        Value::Scalar(..) => None,
        Value::Seq(items) => {
            let changed: Vec<Option<Node>> = items.iter().map(|item| without_inside(item, change)).collect();
            changed.iter().any(Option::is_some).then(|| {
                let items = items.iter().zip(changed).map(|(item, changed)| changed.unwrap_or_else(|| item.clone()));
                Node { value: Value::Seq(items.collect()), origin: node.origin.clone() }
            })
        }
        Value::Map(_) => {
            let fields = ["generators", "transformers", "validators"];
            let changed = fields.iter().filter_map(|field| {
                let entry = node.entry(field)?;
                Some(entry.with_node(without_inside(&entry.node, change)?))
            });
            changed.collect::<Vec<_>>().into_iter().reduce(|first, _| first).map(|entry| node.with(entry))
        }
    }
}

fn changed(documents: &[Node], change: &dyn Fn(&Node) -> Option<Node>) -> Option<Vec<Node>> {
    let changed: Vec<Option<Node>> = documents.iter().map(change).collect();
    let any = changed.iter().any(Option::is_some);
    any.then(|| documents.iter().zip(changed).map(|(node, changed)| changed.unwrap_or_else(|| node.clone())).collect())
}

/// What a file is to kustomize.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Kustomization,
    Plugins,
    Configuration,
}

/// The files of a case that hold something.
fn files(tree: &Tree) -> Vec<(Holds, String, Vec<Node>)> {
    let mut files = Vec::new();
    for file in tree.files() {
        let path = file.path();
        if FILE_NAMES.iter().any(|name| path.rsplit('/').next() == Some(name)) {
            let documents = self::documents(file);
            for item in documents.iter().filter_map(|node| node.get("configurations")).flat_map(Node::items) {
                let path = item.text().and_then(|text| join(folder_of(path), text));
                if let Some(file) = path.and_then(|path| tree.file(&path).ok()) {
                    files.push((Holds::Configuration, file.path().to_owned(), self::documents(&file)));
                }
            }
            files.push((Holds::Kustomization, path.to_owned(), documents));
        }
        if file.text().contains("apiVersion: builtin") {
            files.push((Holds::Plugins, path.to_owned(), self::documents(file)));
        }
    }
    files
}

fn documents(file: &File) -> Vec<Node> {
    parse(file).documents.into_iter().map(|document| document.node).collect()
}

/// The first case that a field makes another one.
fn shown(cases: &[Case], what: Holds, field: &str) -> Option<String> {
    let path: Vec<&str> = field.split('.').collect();
    let take_out = |node: &Node| match what {
        Holds::Plugins => {
            let (kind, path) = path.split_first()?;
            (node.get("kind")?.text() == Some(kind)).then(|| without(node, path))?
        }
        Holds::Kustomization | Holds::Configuration => without(node, &path),
    };
    let shows = |case: &&Case| {
        case.files.iter().filter(|(holds, ..)| *holds == what).any(|(_, file, documents)| {
            let direct = changed(documents, &take_out);
            let inside = || changed(documents, &|node: &Node| without_inside(node, &take_out));
            let others = direct.or_else(|| (what == Holds::Plugins).then(inside)?);
            others.is_some_and(|documents| case.depends_on(file, &documents))
        })
    };
    cases.iter().find(shows).map(|case| case.name.clone())
}

#[test]
fn every_field_is_shown_by_a_case() {
    let folders: Vec<PathBuf> =
        entries(&testdata("kustomize")).into_iter().filter(|case| case.join("expected.yaml").exists()).collect();
    let cases: Vec<Case> = folders.iter().map(|case| Case::read(case)).collect();
    let configuration = CONFIGURATION.iter().map(|field| (*field).to_owned()).collect();
    let all: [(Holds, Vec<String>); 3] =
        [(Holds::Kustomization, fields()), (Holds::Plugins, plugin_fields()), (Holds::Configuration, configuration)];
    let mut wrong = Vec::new();
    for (what, fields) in all {
        for field in fields {
            let within =
                |name: &str| field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let excused = SHOWN_BY_NONE.iter().any(|(name, _)| what != Holds::Configuration && within(name));
            match shown(&cases, what, &field) {
                None if !excused => wrong.push(format!("no case shows `{field}`")),
                Some(case) if excused => wrong.push(format!("`{case}` shows `{field}`, which is said to have no case")),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
