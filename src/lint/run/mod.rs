//! A run of the linter: load, run the rules, group and suppress findings.

pub(super) mod settings;
pub(super) mod options;
pub(super) mod objects;
pub(super) mod suppress;
pub(super) mod repository;
