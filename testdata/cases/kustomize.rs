//! Builds of kustomize: the output of the real program for each directory, byte for byte.

use std::path::Path;

use fleetwright::base::finding::Severity;
use fleetwright::kustomize::Build;
use fleetwright::yaml::Node;
use libtest_mimic::Trial;

use crate::support::{entries, kustomize_case, lines, printed, testdata};
use crate::{Outcome, compare, difference, none, trials as trials_of};

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("kustomize");
    trials_of("kustomize", &root, entries(&root), check)
}

fn check(case: &Path) -> Outcome {
    let build = kustomize_case(case);
    build.objects.iter().for_each(|object| check_places(&object.node));
    if case.join("refused").exists() {
        let findings = lines(&build.findings);
        assert!(!findings.is_empty(), "the real program refuses it");
        compare(findings, &case.join("findings.txt"))?;
    }
    let expected = case.join("expected.yaml");
    if expected.exists() { check_output(&build, &std::fs::read_to_string(expected)?) } else { Ok(()) }
}

fn check_output(build: &Build, expected: &str) -> Outcome {
    let printed = printed(build);
    if printed != expected {
        return Err(difference(expected, &printed).into());
    }
    // kustomize accepts what the linter warns about.
    let errors = build.findings.iter().filter(|finding| finding.severity == Severity::Error);
    none(lines(&errors.cloned().collect::<Vec<_>>()))?;
    assert!(build.not_done.is_empty(), "not done: {:?}", build.not_done);
    Ok(())
}

/// Checks that each node has a place in a file, and each key a place at its text.
fn check_places(node: &Node) {
    assert!(!node.span().file().path().is_empty());
    node.items().iter().for_each(check_places);
    for entry in node.entries() {
        let key = entry.key_span();
        let plain = key.text().trim_matches(['"', '\'']);
        // A key has the place of its text, or of the field or pointer that added it.
        let is_added = key.text().contains('/') || ["namespace", "labels"].contains(&key.text());
        // A node that a patch moves keeps its place, and its key has the same one.
        let is_added = is_added || key == *entry.node.origin.written();
        assert!(plain == &*entry.key || is_added || key.text().len() > 2, "`{}` at {key:?}", entry.key);
        check_places(&entry.node);
    }
}
