//! Findings, which every check reports, and small algorithms.

pub mod finding;
pub mod group_findings;
pub mod go_regexp;
pub mod graph;
pub mod set_aside;
