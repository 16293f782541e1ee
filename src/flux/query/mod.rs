//! Questions about built clusters: graphs, provenance, traces, tenants.

pub mod field;
pub mod graph;
pub(super) mod image_marker;
pub(super) mod lockdown;
pub(super) mod provenance;
pub mod select;
pub(super) mod tenancy;
pub mod trace;
