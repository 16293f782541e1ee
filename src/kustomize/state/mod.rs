//! The state of a build: accumulated objects, configuration and origin annotations.

pub(super) mod totals;
pub(super) mod accumulator;
pub(super) mod load_config;
pub(super) mod load_schema;
pub(super) mod origin_annotations;
