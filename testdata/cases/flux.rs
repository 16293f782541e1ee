//! Builds of Flux: the objects that the libraries of kustomize-controller made of each repository, compared as values.

use std::path::Path;

use fleetwright::base::finding::{Finding, Severity};
use fleetwright::flux::{Applied, ApplierKind, Cluster, Repo, Settings, State};
use fleetwright::lint::{Options, judge};
use fleetwright::text::File;
use fleetwright::yaml::{DUPLICATE_KEY, Reader, parse, to_json};
use libtest_mimic::Trial;

use crate::support::{entries, lines, sorted, testdata, tree_of};
use crate::{Outcome, difference, trials as trials_of};

/// Cases whose result needs what is not implemented.
const NOT_YET: [&str; 4] = ["build-metadata", "helm-chart", "no-resources", "no-resources-but-components"];

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("flux");
    let trials = trials_of("flux", &root, entries(&root), check);
    let is_ignored = |trial: &Trial| NOT_YET.iter().any(|case| trial.name() == format!("flux::{case}"));
    let marked = |trial: Trial| {
        let ignored = is_ignored(&trial);
        trial.with_ignored_flag(ignored)
    };
    trials.into_iter().map(marked).collect()
}

/// The state of the case's Kustomization, and the objects that it applies.
fn applied(cluster: &Cluster) -> (&State, Vec<Applied<'_>>) {
    let by = cluster.appliers.iter().find(|applier| applier.kind == ApplierKind::Kustomization).unwrap();
    (&by.state, cluster.objects().filter(|applied| applied.by.at == by.at).collect())
}

fn check(case: &Path) -> Outcome {
    let repo = Repo::load(&tree_of(&case.join("in")), &Settings::default());
    let (state, objects) = applied(&repo.clusters[0]);
    let Ok(expected) = std::fs::read_to_string(case.join("expected.yaml")) else {
        // The linter reports missing variables: the engine builds the objects nevertheless, so that they are checked.
        let lacks_variables =
            || judge(&repo, &Options::default()).findings.iter().any(|finding| finding.rule == "dangling-values");
        let is_refused = (*state == State::Failed && !repo.problems.is_empty()) || lacks_variables();
        assert!(is_refused, "Flux refuses it; here it is {state:?}");
        return Ok(());
    };
    // A likely mistake that builds all the same is no difference.
    let is_error = |found: &&Finding| found.severity == Severity::Error && found.rule != DUPLICATE_KEY;
    let problems: Vec<_> = repo.problems.iter().filter(is_error).cloned().collect();
    if *state != State::Built || !problems.is_empty() {
        return Err(format!("{state:?}\n{}", lines(&problems)).into());
    }
    let parsed = parse(&File::new("expected.yaml", expected));
    let documents = parsed.documents.iter().filter(|document| !document.node.is_null());
    let expected: Vec<_> = documents.map(|document| to_json(&document.node, Reader::Kubernetes)).collect();
    let got: Vec<_> = objects.iter().map(|one| to_json(&one.object.node, Reader::Kustomize)).collect();
    if got == expected {
        return Ok(());
    }
    let pretty = |values: &[serde_json::Value]| {
        let sorted: Vec<_> = values.iter().map(sorted).collect();
        serde_json::to_string_pretty(&sorted).unwrap()
    };
    Err(difference(&pretty(&expected), &pretty(&got)).into())
}
