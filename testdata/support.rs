//! Code that the cases and the tests of behavior share: files of `testdata/`, and findings as text.
#![allow(dead_code, reason = "each of the two targets uses a part")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::base::finding::Finding;
use fleetwright::disk;
use fleetwright::flux::{ApplierKind, Expansion, Producers, expand, helm, is_input_provider, is_resource_set};
use fleetwright::kube::Object;
use fleetwright::kustomize::{Build, Builder, Files, Reading};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::{go, parse};

/// The path of an entry of `testdata/`.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

/// The entries of a directory, sorted by path.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// The directories in a directory, sorted by path.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = entries(folder);
    folders.retain(|path| path.is_dir());
    folders
}

/// The last component of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Every text file below a directory, by its path relative to it.
pub(crate) fn tree_of(root: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for path in entries(folder) {
            if path.is_dir() {
                walk(root, &path, tree);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                if let Ok(file) = File::decode(name, std::fs::read(&path).unwrap()) {
                    tree.insert(file);
                }
            }
        }
    }
    let mut tree = Tree::default();
    walk(root, root, &mut tree);
    tree
}

/// Findings, one a line: place, severity, rule, message.
pub(crate) fn lines(findings: &[Finding]) -> String {
    let mut lines = String::new();
    for finding in findings {
        let place = finding.at.span.position();
        let path = finding.at.span.file().path();
        let (severity, rule, message) = (finding.severity, finding.rule, &finding.message);
        writeln!(lines, "{path}:{}:{} {severity}[{rule}] {message}", place.line, place.column).unwrap();
    }
    lines
}

/// The value with the keys of its mappings sorted, so that a diff shows values only.
pub(crate) fn sorted(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            serde_json::Value::Object(entries.into_iter().collect())
        }
        serde_json::Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The build of a case of `testdata/kustomize/`.
pub(crate) fn kustomize_case(case: &Path) -> Build {
    let start = std::fs::read_to_string(case.join("folder")).unwrap_or_default();
    let restricted = case.join("restricted").exists();
    let reading = if restricted { Reading::Kustomize } else { Reading::Unrestricted };
    kustomize(&disk::read(&case.join("in")).unwrap(), start.trim(), reading)
}

/// The build of a directory, with all findings that the command `kustomize` reports.
pub(crate) fn kustomize(tree: &Tree, folder: &str, reading: Reading) -> Build {
    let mut build = Builder::new(Files::read(tree, |_| true).read_as(reading)).build(folder);
    build.findings.extend(build.empty.take());
    build.findings.append(&mut build.left_out);
    build.findings.append(&mut build.charts);
    build
}

/// The output of the command `kustomize`.
pub(crate) fn printed(build: &Build) -> String {
    let objects: Vec<String> = build.objects.iter().map(|object| go::print(&object.node)).collect();
    objects.join("---\n")
}

/// The values of the HelmRelease in a file, whose other objects are its sources.
pub(crate) fn helm_values(name: &str, text: &str) -> helm::Values {
    let parsed = parse(&File::new(name, text));
    assert!(parsed.findings.is_empty(), "{name}: {:?}", parsed.findings);
    let objects: Vec<Object> =
        parsed.documents.iter().filter_map(|document| Object::new(document.node.clone())).collect();
    let mut producers = Producers::default();
    for object in &objects {
        producers.take(object, ApplierKind::Kustomization);
    }
    let known = |kind: &str, namespace: &str, name: &str| {
        let is = |object: &&Object| object.kind() == kind && object.name() == name;
        objects.iter().find(|object| is(object) && object.namespace() == Some(namespace)).cloned()
    };
    let release = objects.iter().find(|object| object.kind() == "HelmRelease").unwrap();
    helm::values(release, |kind, name| producers.find(kind, "n", name, &known))
}

/// The expansion of the ResourceSet in a file, with the input providers of that file.
pub(crate) fn expansion(name: &str, text: &str) -> Expansion {
    let parsed = parse(&File::new(name, text));
    assert!(parsed.findings.is_empty(), "{name}: {:?}", parsed.findings);
    let objects: Vec<Object> =
        parsed.documents.iter().filter_map(|document| Object::new(document.node.clone())).collect();
    let providers: Vec<Object> = objects.iter().filter(|object| is_input_provider(object)).cloned().collect();
    expand(objects.iter().find(|object| is_resource_set(object)).unwrap(), &providers)
}
