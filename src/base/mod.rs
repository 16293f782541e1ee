//! Findings, and small algorithms.

pub mod finding;
