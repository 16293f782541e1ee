//! Roles, bindings and requests, as the API server evaluates them.

pub(super) mod request;
pub(super) mod rule;
pub(super) mod subject;
pub(super) mod role;
pub(super) mod shipped;
pub(super) mod kinds;
pub(super) mod aggregation;
pub(super) mod cluster;
pub(super) mod answer;
