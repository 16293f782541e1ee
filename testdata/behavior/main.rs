//! Tests of behavior that are not a case of `testdata/`.
#![expect(clippy::unwrap_used, reason = "clippy knows test functions, and not those that they share")]

mod action;
mod architecture;
mod bounds;
mod cases;
mod cel;
mod cli;
mod clusters;
mod confinement;
mod decryption;
mod docs;
mod faults;
mod fleet;
mod handling;
mod helm;
mod hostile;
mod kustomize;
mod lint;
mod lint_cache;
mod live;
mod many;
mod policies;
mod producers;
mod progress;
mod readme;
mod render;
mod report;
mod resourceset;
mod schemas;
mod seeds;
#[path = "../support.rs"]
mod support;
mod variables;
mod yaml;
