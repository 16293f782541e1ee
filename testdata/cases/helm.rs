//! The values of a HelmRelease, as the library of helm-controller merges them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fleetwright::yaml::{Reader, to_json};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::support::{helm_values, name, testdata};
use crate::{Outcome, trials as trials_of};

/// The recorded answers, by the name of the file.
static ANSWERS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../oracles/helm/answers.json")).unwrap());

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("oracles/helm/releases");
    let cases: Vec<PathBuf> = ANSWERS["values"].as_object().unwrap().keys().map(|name| root.join(name)).collect();
    trials_of("helm", &root, cases, check)
}

fn check(case: &Path) -> Outcome {
    let name = name(case);
    let ours = helm_values(&name, &std::fs::read_to_string(case)?);
    let json = if ours.faults.is_empty() { to_json(&ours.node, Reader::Kubernetes) } else { Value::Null };
    assert_eq!(json, ANSWERS["values"][&name], "{:?}", ours.faults);
    Ok(())
}
