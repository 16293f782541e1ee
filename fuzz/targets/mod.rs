//! The fuzz targets: functions that panic if an invariant does not hold. The fuzzers run them on generated inputs, and
//! `cargo test` runs them on the inputs in `fuzz/corpus`.

mod edits;
mod languages;
mod repository;
mod yaml;

/// A function that runs a target on an input.
type Target = fn(&[u8]);

/// The targets by name. The directory of the same name in `fuzz/corpus` has the inputs of a target.
pub(crate) const TARGETS: &[(&str, Target)] = &[
    ("cel", languages::cel),
    ("edit", edits::edit),
    ("fix", edits::fix_all),
    ("kustomize", repository::kustomize),
    ("lint", repository::lint),
    ("parse", yaml::parse),
    ("patches", repository::patches),
    ("policies", repository::policies),
    ("print", yaml::print),
    ("regexp", languages::regexp),
    ("render", repository::render),
    ("resourceset", repository::resource_set),
    ("substitute", languages::substitute),
];

/// Runs a target.
pub(crate) fn run(name: &str, data: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("the target exists");
    target(data);
}
