//! The API versions that releases deprecate or remove, and what Flux changes before it applies an object.

pub(super) mod normalization;
pub(super) mod report;
