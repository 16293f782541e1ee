//! Field specs: the fields that a transformer changes in objects of a kind.

pub(super) mod field_spec;
pub(super) mod transformer_config;
pub(super) mod builtin_fieldspecs;
pub(super) mod crd_fieldspecs;
pub(super) mod read_config;
