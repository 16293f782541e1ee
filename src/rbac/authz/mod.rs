//! The access rights of a cluster, as the API server evaluates them.

pub(super) mod cluster;
pub(super) mod aggregation;
pub(super) mod answer;
pub(super) mod load;
