//! Runs the cases of `testdata/`: what a user sees, folder by folder.

#[path = "cases/architecture.rs"]
mod architecture;
#[path = "cases/cli.rs"]
mod cli;
#[path = "cases/fleet.rs"]
mod fleet;
#[path = "cases/kustomize.rs"]
mod kustomize;
#[path = "cases/lint.rs"]
mod lint;
#[path = "cases/render.rs"]
mod render;
#[path = "cases/report.rs"]
mod report;
#[path = "cases/yaml.rs"]
mod yaml;
