//! Cases of kustomize: what the real program made of each folder, compared as values and in order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::kustomize::{Build, build};
use fleetwright::text::{File, Tree};
use fleetwright::yaml::{Reader, parse, to_json};

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
    build(&tree_of(&case.join("in")), start.trim())
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// Findings as lines: place, severity, rule, message.
pub(crate) fn lines(findings: &[fleetwright::finding::Finding]) -> String {
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
        let expected = parse(&File::new("expected.yaml", expected));
        let expected: Vec<_> =
            expected.documents.iter().map(|document| to_json(&document.node, Reader::Kubernetes)).collect();
        let build = built(&case);
        let got: Vec<_> = build.objects.iter().map(|object| printed(&object.node)).collect();
        let name = case.file_name().unwrap().to_string_lossy();
        if got != expected {
            let pretty = |values: &[serde_json::Value]| {
                let sorted: Vec<_> = values.iter().map(sorted).collect();
                serde_json::to_string_pretty(&sorted).unwrap()
            };
            let (got, expected) = (pretty(&got), pretty(&expected));
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

/// What a reader makes of the object as it is printed.
fn printed(node: &fleetwright::yaml::Node) -> serde_json::Value {
    let text = fleetwright::yaml::go::print(node);
    let parsed = parse(&File::new("got.yaml", text));
    to_json(&parsed.documents[0].node, Reader::Kubernetes)
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

/// Compares with the real program on a folder outside of the repository:
/// `TREE=path KUSTOMIZE=program cargo test --test cases kustomize::agrees -- --ignored --nocapture`.
#[test]
#[ignore = "compares with the program that KUSTOMIZE names on the folder that TREE names"]
fn agrees_with_the_real_program() {
    let (Ok(root), Ok(program)) = (std::env::var("TREE"), std::env::var("KUSTOMIZE")) else { return };
    let tree = tree_of(Path::new(&root));
    let mut counts = [0; 4];
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    let paths = tree.entries().map(|(path, _)| path).filter(|path| names.iter().any(|name| path.ends_with(name)));
    for path in paths {
        let folder = fleetwright::text::folder_of(path);
        let ours = build(&tree, folder);
        if ours.not_done.keys().any(|field| field != "generatorOptions") {
            counts[3] += 1;
            continue;
        }
        let arguments = ["build", "--load-restrictor", "LoadRestrictionsNone"];
        let real =
            std::process::Command::new(&program).args(arguments).arg(Path::new(&root).join(folder)).output().unwrap();
        let output = String::from_utf8_lossy(&real.stdout).into_owned();
        let expected = parse(&File::new("expected.yaml", output));
        let expected: Vec<_> =
            expected.documents.iter().map(|document| to_json(&document.node, Reader::Kubernetes)).collect();
        let got: Vec<_> = ours.objects.iter().map(|object| to_json(&object.node, Reader::Kubernetes)).collect();
        match (real.status.success(), ours.findings.is_empty()) {
            (true, true) if got == expected => counts[0] += 1,
            (false, false) => counts[1] += 1,
            (real_succeeds, _) => {
                counts[2] += 1;
                let first = got.iter().zip(&expected).find(|(a, b)| a != b);
                println!(
                    "{folder}: {real_succeeds} {} {}",
                    String::from_utf8_lossy(&real.stderr),
                    lines(&ours.findings)
                );
                if let (true, Some((got, expected))) = (real_succeeds, first) {
                    let pretty = |value| serde_json::to_string_pretty(&sorted(value)).unwrap();
                    let (got, expected) = (pretty(got), pretty(expected));
                    let diff = similar::TextDiff::from_lines(&expected, &got);
                    println!("{}", diff.unified_diff().context_radius(2));
                }
            }
        }
    }
    println!("equal {}, refused by both {}, different {}, not done {}", counts[0], counts[1], counts[2], counts[3]);
}
