//! kustomize's own tests: `KRUSTY=folder cargo test --test cases kustomize::krusty -- --ignored --nocapture`.
//!
//! The folder has one folder for each case: `in` with its files, `dir` with the folder in it to build, and
//! `expected.yaml` or `expect-error`. What is left out, and why, stands in `testdata/oracles/kustomize/left-out.txt`.

use std::collections::BTreeMap;
use std::path::Path;

use fleetwright::disk;
use fleetwright::kustomize::Reading;
use fleetwright::text::File;
use fleetwright::yaml::{Reader, parse, to_json};

/// The objects of a text, in no order: the library that those tests call does not sort them, the program does.
fn objects(text: String) -> Vec<String> {
    let parsed = parse(&File::new("objects.yaml", text));
    let values = parsed.documents.iter().map(|document| to_json(&document.node, Reader::Kubernetes));
    let mut objects: Vec<String> = values.map(|value| super::sorted(&value).to_string()).collect();
    objects.sort();
    objects
}

/// Why a case fails; nothing when it passes.
fn fault(case: &Path) -> Option<String> {
    let folder = std::fs::read_to_string(case.join("dir")).unwrap();
    let folder = match folder.trim() {
        "." => "",
        folder => folder,
    };
    let build = super::build(&disk::read(&case.join("in")).unwrap(), folder, Reading::Kustomize);
    let refused = !build.findings.is_empty() || build.folders.is_empty();
    let Ok(expected) = std::fs::read_to_string(case.join("expected.yaml")) else {
        return (!refused).then(|| "it builds and must not".to_owned());
    };
    if refused {
        return Some(super::lines(&build.findings));
    }
    (objects(expected) != objects(super::printed(&build))).then(|| "it builds to something else".to_owned())
}

#[test]
#[ignore = "runs the cases of the folder that KRUSTY names"]
fn the_tests_of_kustomize_pass() {
    let Ok(folder) = std::env::var("KRUSTY") else { return };
    let list = include_str!("../../oracles/kustomize/left-out.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let left_out: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(": ")).collect();
    let mut cases: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases.iter().filter(|case| case.is_dir()) {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        match (fault(case), left_out.get(name.as_str())) {
            (None, _) => passed += 1,
            (Some(_), Some(why)) => println!("left out: {name}: {why}"),
            (Some(why), None) => failed.push(format!("{name}: {why}")),
        }
    }
    println!("{passed} of {} cases pass", cases.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
