//! Facts about a cluster that several rules use.

pub(super) mod artifacts;
pub(super) mod duration_fields;
pub(super) mod charts;
pub(super) mod inputs;
pub(super) mod installation;
pub(super) mod namespace_sources;
pub(super) mod ownership;
pub(super) mod pods;
pub(super) mod private_values;
pub(super) mod reach;
pub(super) mod tenants;
pub(super) mod unknown_sources;
pub(super) mod listing;
pub(super) mod needs;
