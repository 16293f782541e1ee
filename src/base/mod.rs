//! What every check reports, and small algorithms.

pub mod finding;
pub mod set_aside;
