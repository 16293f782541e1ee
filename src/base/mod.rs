//! Findings, which every check reports, and small algorithms.

pub mod finding;
