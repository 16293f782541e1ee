//! Cases of yaml.

#[path = "yaml/bounds.rs"]
mod bounds;
#[path = "yaml/documents.rs"]
mod documents;
#[path = "yaml/generate.rs"]
mod generate;
#[path = "yaml/properties.rs"]
mod properties;
#[path = "yaml/printer.rs"]
mod printer;
#[path = "yaml/scalars.rs"]
mod scalars;
#[path = "../../fuzz/targets.rs"]
mod targets;
