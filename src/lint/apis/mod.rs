//! The API versions that a repository uses, and the releases that deprecate or remove them.

pub(super) mod normalization;
pub(super) mod uses;
pub(super) mod report;
