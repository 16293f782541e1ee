//! Findings, which every check reports, and small algorithms.

pub mod finding;
pub mod cause;
pub mod graph;
pub mod set_aside;
