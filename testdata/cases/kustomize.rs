//! Cases of kustomize: what the real program made of each folder, byte for byte.

#[path = "kustomize/bounds.rs"]
mod bounds;
#[path = "kustomize/fields.rs"]
mod fields;
#[path = "kustomize/repositories.rs"]
mod repositories;
#[path = "kustomize/upstream.rs"]
mod upstream;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::disk;
use fleetwright::kustomize::{Build, Builder, Files, Reading};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::go;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kustomize")
}

/// Every file below a folder, by its path from there.
pub(crate) fn tree_of(root: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
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

fn built(case: &Path) -> Build {
    let start = std::fs::read_to_string(case.join("folder")).unwrap_or_default();
    let restricted = case.join("restricted").exists();
    let reading = if restricted { Reading::Kustomize } else { Reading::Unrestricted };
    build(&disk::read(&case.join("in")).unwrap(), start.trim(), reading)
}

/// What the command makes of a folder.
fn build(tree: &Tree, folder: &str, reading: Reading) -> Build {
    let mut build = Builder::new(Files::read(tree, |_| true).read_as(reading)).build(folder);
    build.findings.extend(build.empty.take());
    build.findings.append(&mut build.left_out);
    build
}

/// What the command prints.
fn printed(build: &Build) -> String {
    let objects: Vec<String> = build.objects.iter().map(|object| go::print(&object.node)).collect();
    objects.join("---\n")
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// Findings as lines: place, severity, rule, message.
pub(crate) fn lines(findings: &[fleetwright::base::finding::Finding]) -> String {
    let mut lines = String::new();
    for finding in findings {
        let place = finding.at.span.position();
        let path = finding.at.span.file().path();
        let (severity, rule, message) = (finding.severity, finding.rule, &finding.message);
        writeln!(lines, "{path}:{}:{} {severity}[{rule}] {message}", place.line, place.column).unwrap();
    }
    lines
}

#[test]
fn builds_what_the_real_program_builds() {
    let mut wrong = String::new();
    for case in cases().into_iter().filter(|case| case.join("expected.yaml").exists()) {
        let expected = std::fs::read_to_string(case.join("expected.yaml")).unwrap();
        let build = built(&case);
        let name = case.file_name().unwrap().to_string_lossy();
        let got = printed(&build);
        if got != expected {
            let diff = similar::TextDiff::from_lines(&expected, &got);
            let diff = diff.unified_diff().context_radius(8).header("real", "ours").to_string();
            writeln!(wrong, "{name}:\n{diff}").unwrap();
        }
        if !build.findings.is_empty() {
            writeln!(wrong, "{name}: {}", lines(&build.findings)).unwrap();
        }
        if !build.not_done.is_empty() {
            writeln!(wrong, "{name}: not done {:?}", build.not_done).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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

/// What the real program refuses has a finding, at a line: `findings.txt` of the case.
#[test]
fn refuses_what_the_real_program_refuses() {
    for case in cases().into_iter().filter(|case| case.join("refused").exists()) {
        let findings = lines(&built(&case).findings);
        assert!(!findings.is_empty(), "{} is refused by the real program", case.display());
        snapbox::assert_data_eq!(findings, snapbox::Data::read_from(&case.join("findings.txt"), None));
    }
}

#[test]
fn every_node_of_a_build_stands_in_a_file() {
    fn check(node: &fleetwright::yaml::Node) {
        assert!(!node.span().file().path().is_empty());
        node.items().iter().for_each(check);
        for entry in node.entries() {
            let key = entry.key_span();
            let plain = key.text().trim_matches(['"', '\'']);
            // A key stands where it is written, or at the field or pointer that made it.
            let made = key.text().contains('/') || ["namespace", "labels"].iter().any(|field| key.text() == *field);
            // What a patch moves keeps its place, and its key stands there too.
            let made = made || key == *entry.node.origin.written();
            assert!(plain == &*entry.key || made || key.text().len() > 2, "`{}` at {key:?}", entry.key);
            check(&entry.node);
        }
    }
    for case in cases() {
        built(&case).objects.iter().for_each(|object| check(&object.node));
    }
}
