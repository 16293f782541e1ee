//! The language of fleet.yaml: nodes → a fleet, or findings.

pub mod model;
mod scalar;

pub use scalar::{DependsOn, DnsLabel, Duration, Patch, Raw, RepoPath, Text, VariableName};
