//! `ResourceSet`s: the objects that Flux Operator made of each.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fleetwright::yaml::{Reader, to_json};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::support::{expansion, name, testdata};
use crate::{Outcome, trials as trials_of};

/// The recorded answers, by the name of the file.
static ANSWERS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../oracles/resourceset/answers.json")).unwrap());

pub(crate) fn trials() -> Vec<Trial> {
    let root = testdata("oracles/resourceset/sets");
    let cases: Vec<PathBuf> = ANSWERS["sets"].as_object().unwrap().keys().map(|name| root.join(name)).collect();
    trials_of("resourceset", &root, cases, check)
}

fn check(case: &Path) -> Outcome {
    let name = name(case);
    let theirs = &ANSWERS["sets"][&name];
    let ours = expansion(&name, &std::fs::read_to_string(case)?);
    assert_eq!(ours.not_expanded, None);
    assert_eq!(ours.findings.is_empty(), !theirs.is_null(), "{:?}", ours.findings);
    let made: Vec<Value> = ours.objects.iter().map(|object| to_json(&object.node, Reader::Kustomize)).collect();
    assert_eq!(made, theirs.as_array().cloned().unwrap_or_default());
    Ok(())
}
