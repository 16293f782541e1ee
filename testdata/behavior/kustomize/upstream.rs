//! The runs of kustomize's own tests: `RUNS=folder cargo test --test behavior kustomize::upstream -- --ignored --nocapture`.
//!
//! `testdata/oracles/kustomize/upstream/record` makes the folder. What is left out, and why, stands in `left-out.txt`
//! beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleetwright::disk;
use fleetwright::kustomize::Reading;
use fleetwright::text::File;
use fleetwright::yaml::{Reader, parse, to_json};

use crate::support::{kustomize, lines, printed, sorted};

/// The objects of a text, in no order: the library that those tests call does not sort them, the program does.
fn objects(text: String) -> Vec<String> {
    let parsed = parse(&File::new("objects.yaml", text));
    let values = parsed.documents.iter().map(|document| to_json(&document.node, Reader::Kubernetes));
    let mut objects: Vec<String> = values.map(|value| sorted(&value).to_string()).collect();
    objects.sort();
    objects
}

/// Why a run comes out otherwise; nothing when it comes out as it did.
fn fault(case: &Path) -> Option<String> {
    let folder = std::fs::read_to_string(case.join("dir")).unwrap();
    let reading = if case.join("unrestricted").exists() { Reading::Unrestricted } else { Reading::Kustomize };
    let build = kustomize(&disk::read(&case.join("in")).unwrap(), &folder, reading);
    let refused = !build.findings.is_empty() || build.folders.is_empty();
    let Ok(expected) = std::fs::read_to_string(case.join("expected.yaml")) else {
        return (!refused).then(|| "it builds and must not".to_owned());
    };
    if refused {
        return Some(lines(&build.findings));
    }
    (objects(expected) != objects(printed(&build))).then(|| "it builds to something else".to_owned())
}

#[test]
#[ignore = "looks at the runs in the folder that RUNS names"]
fn the_runs_of_kustomizes_tests_come_out_the_same() {
    let Ok(folder) = std::env::var("RUNS") else { return };
    let list = include_str!("../../oracles/kustomize/upstream/left-out.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut left_out: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(": ")).collect();
    let cases: BTreeSet<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases.iter().filter(|case| case.is_dir()) {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        match (fault(case), left_out.remove(name.as_str())) {
            (None, None) => passed += 1,
            (None, Some(_)) => failed.push(format!("{name}: it comes out the same and is named in left-out.txt")),
            (Some(_), Some(why)) => println!("left out: {name}: {why}"),
            (Some(why), None) => failed.push(format!("{name}: {why}")),
        }
    }
    println!("{passed} of {} runs come out the same; no run is made of {}", cases.len(), left_out.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
