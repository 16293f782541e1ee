//! Runs the cases of `testdata/`: what a user sees, folder by folder.
#![expect(clippy::unwrap_used, reason = "clippy knows test functions, and not those that they share")]

#[path = "cases/action.rs"]
mod action;
#[path = "cases/architecture.rs"]
mod architecture;
#[path = "cases/bounds.rs"]
mod bounds;
#[path = "cases/cli.rs"]
mod cli;
#[path = "cases/clusters.rs"]
mod clusters;
#[path = "cases/confinement.rs"]
mod confinement;
#[path = "cases/decryption.rs"]
mod decryption;
#[path = "cases/fleet.rs"]
mod fleet;
#[path = "cases/flux.rs"]
mod flux;
#[path = "cases/handling.rs"]
mod handling;
#[path = "cases/helm.rs"]
mod helm;
#[path = "cases/kustomize.rs"]
mod kustomize;
#[path = "cases/lint.rs"]
mod lint;
#[path = "cases/producers.rs"]
mod producers;
#[path = "cases/provenance.rs"]
mod provenance;
#[path = "cases/readme.rs"]
mod readme;
#[path = "cases/render.rs"]
mod render;
#[path = "cases/report.rs"]
mod report;
#[path = "cases/resourceset.rs"]
mod resourceset;
#[path = "cases/seeds.rs"]
mod seeds;
#[path = "cases/variables.rs"]
mod variables;
#[path = "cases/yaml.rs"]
mod yaml;
