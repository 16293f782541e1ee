//! The build of a directory: resources, components, then the transformers in kustomize's order.

pub(super) mod output;
pub(super) mod finish;
pub(super) mod walk;
pub(super) mod builder;
pub(super) mod include;
pub(super) mod plugins;
