//! A run of the linter: it loads a repository, runs the rules, and suppresses and groups findings.

pub(super) mod settings;
pub(super) mod baseline;
pub(super) mod options;
pub(super) mod alike;
pub(super) mod objects;
pub(super) mod suppress;
pub(super) mod remote;
mod generated_roots;
mod invalid_documents;
mod missing_changes;
mod doubt;
mod newer_kustomize;
mod one_place;
pub(super) mod repository;
pub(super) mod fix;
pub(super) mod since;
#[cfg(test)]
mod alone;
