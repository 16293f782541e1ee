//! The pods of workloads: what they contain, what they need, and their labels.

pub(in crate::lint) mod containers;
pub(in crate::lint) mod labels;
