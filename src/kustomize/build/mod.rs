//! The build of a directory: resources and components are accumulated, then transformers run in kustomize's order.

pub(super) mod output;
pub(super) mod finish;
pub(super) mod walk;
pub(super) mod builder;
pub(super) mod include;
pub(super) mod plugins;
