//! Producers whose objects are not in the repository, such as charts and sources without a copy, and the objects that
//! they may create. All rules use this module.

mod base_url;
pub(super) mod known_contents;
pub(super) mod publisher;
pub(super) mod fleet_identity;
mod contents;
pub(super) mod mention;
mod manifests;
pub(super) mod unknown_producer;
pub(super) mod relations;
pub(super) mod injected_variables;
