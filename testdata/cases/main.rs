//! Runs the cases of `testdata/`, one trial each.
//!
//! The name of a trial is `runner::path`; the path leads from the directory of the runner to the case. So
//! `cargo test --test cases lint::missing-prune` runs the cases of a rule. This target has its own `main`, which does not
//! see `#[test]` functions; those belong to `testdata/behavior/`.
#![expect(clippy::unwrap_used, reason = "clippy knows test functions, and not those that they share")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use snapbox::{Assert, Data, IntoData};

mod cli;
mod fleet;
mod fleets;
mod flux;
mod fuzz;
mod helm;
mod kustomize;
mod lint;
mod provenance;
mod render;
mod resourceset;
#[path = "../support.rs"]
mod support;
mod yaml;

/// The runners, in the order in which their cases are listed.
const RUNNERS: &[fn() -> Vec<Trial>] = &[
    cli::trials,
    fleet::trials,
    fleets::trials,
    flux::trials,
    fuzz::trials,
    helm::trials,
    kustomize::trials,
    lint::trials,
    provenance::trials,
    render::trials,
    resourceset::trials,
    yaml::trials,
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, RUNNERS.iter().flat_map(|trials| trials()).collect()).exit_code()
}

/// The outcome of a case: a difference from its expectation is its failure.
type Outcome = Result<(), Failed>;

/// A trial for each case, named by its path from `root`.
fn trials(runner: &str, root: &Path, cases: Vec<PathBuf>, check: fn(&Path) -> Outcome) -> Vec<Trial> {
    assert!(!cases.is_empty(), "{}: no cases", root.display());
    let trial = |case: PathBuf| {
        let path = case.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        Trial::test(format!("{runner}::{path}"), move || check(&case))
    };
    cases.into_iter().map(trial).collect()
}

/// Compares a text with a file of expectations, which `SNAPSHOTS=overwrite` writes.
fn compare(text: String, expected: &Path) -> Outcome {
    let assert = Assert::new().action_env("SNAPSHOTS");
    Ok(assert.try_eq(None, text.into_data(), Data::read_from(expected, None).raw())?)
}

/// Whether expectations are written instead of compared.
fn overwrites() -> bool {
    std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite")
}

/// Fails with a text unless it is empty.
fn none(wrong: String) -> Outcome {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// The difference of two texts, line by line.
fn difference(expected: &str, found: &str) -> String {
    let diff = similar::TextDiff::from_lines(expected, found);
    diff.unified_diff().context_radius(8).header("expected", "found").to_string()
}
