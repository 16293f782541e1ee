//! Transformers: one file for each field of a kustomization that changes objects.

pub(super) mod annotations;
pub(super) mod images;
pub(super) mod labels;
pub(super) mod names;
pub(super) mod namespace;
pub(super) mod replacement_source;
pub(super) mod replacements;
pub(super) mod replicas;
pub(super) mod sequence;
pub(super) mod value_add;
pub(super) mod builtin_plugins;
