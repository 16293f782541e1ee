//! Objects of a cluster that may create other objects.

pub(in crate::lint) mod custom_resources;
pub(in crate::lint) mod generator_words;
pub(in crate::lint) mod requested_namespaces;
pub(in crate::lint) mod writers;
