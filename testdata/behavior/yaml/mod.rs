//! YAML beside the cases of `testdata/yaml`: what holds for every document.

mod bounds;
mod generate;
mod printer;
mod properties;
mod scalars;
#[path = "../../../fuzz/targets/yaml.rs"]
mod targets;
