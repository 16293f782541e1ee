//! The access rights of a cluster, as the API server evaluates them.

pub(super) mod cluster;
pub(super) mod aggregation;
pub(super) mod authorizer;
pub(super) mod load;
