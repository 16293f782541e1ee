//! Cases of Flux's builds: what the libraries of kustomize-controller made of each repository, compared as values.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetwright::flux::{Applied, ApplierKind, Cluster, Repo, Settings, State};
use fleetwright::text::File;
use fleetwright::yaml::{DUPLICATE_KEY, Reader, parse, to_json};

use super::kustomize::{lines, tree_of};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/flux");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// The state of the case's Kustomization, and what it applies.
fn applied(cluster: &Cluster) -> (&State, Vec<Applied<'_>>) {
    let by = cluster.appliers.iter().find(|applier| applier.kind == ApplierKind::Kustomization).unwrap();
    (&by.state, cluster.objects().filter(|applied| applied.by.at == by.at).collect())
}

/// What other parts do not do yet.
const NOT_YET: [&str; 4] = ["build-metadata", "helm-chart", "no-resources", "no-resources-but-components"];

#[test]
fn applies_what_kustomize_controller_applies() {
    let mut wrong = String::new();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy();
        if NOT_YET.contains(&&*name) {
            continue;
        }
        let repo = Repo::load(&tree_of(&case.join("in")), &Settings::default());
        let (state, objects) = applied(&repo.clusters[0]);
        let expected = std::fs::read_to_string(case.join("expected.yaml"));
        let Ok(expected) = expected else {
            if *state != State::Failed || repo.problems.is_empty() {
                writeln!(wrong, "{name}: refused by the real one, and here it is {state:?}").unwrap();
            }
            continue;
        };
        // What is taken for a mistake although it builds is no difference.
        let problems: Vec<_> = repo.problems.iter().filter(|found| found.rule != DUPLICATE_KEY).cloned().collect();
        if *state != State::Built || !problems.is_empty() {
            writeln!(wrong, "{name}: {state:?}\n{}", lines(&problems)).unwrap();
        }
        let parsed = parse(&File::new("expected.yaml", expected));
        let documents = parsed.documents.iter().filter(|document| !document.node.is_null());
        let expected: Vec<_> = documents.map(|document| to_json(&document.node, Reader::Kubernetes)).collect();
        let got: Vec<_> = objects.iter().map(|one| to_json(&one.object.node, Reader::Kustomize)).collect();
        if got != expected {
            let pretty = |values: &[serde_json::Value]| {
                let sorted: Vec<_> = values.iter().map(super::kustomize::sorted).collect();
                serde_json::to_string_pretty(&sorted).unwrap()
            };
            let (got, expected) = (pretty(&got), pretty(&expected));
            let diff = similar::TextDiff::from_lines(&expected, &got);
            let diff = diff.unified_diff().context_radius(8).header("real", "ours").to_string();
            writeln!(wrong, "{name}:\n{diff}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
