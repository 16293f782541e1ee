//! Findings, which every check reports, and algorithms that depend on no other module.

pub(crate) mod buffered_digest;
pub mod date;
pub mod finding;
pub mod fingerprint;
pub mod group_findings;
pub mod go_regexp;
pub mod graph;
pub mod set_aside;
pub mod similar_names;
