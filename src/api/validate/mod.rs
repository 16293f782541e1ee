//! Validation of an object as the API server does it: what it rejects, with the position of each fault.
//!
//! Sources: the typed values of `structured-merge-diff`, which server-side apply creates from an object; the packages
//! `schema/defaulting`, `schema/listtype`, `schema/objectmeta` and `validation` of `k8s.io/apiextensions-apiserver`.

mod mismatch;
mod path;
mod state;
mod value;
mod names;
mod metadata;
mod format;
mod constraints;
mod duplicates;
mod defaults;
mod rules;
mod walk;

pub use mismatch::{Fault, Mismatch};
pub(crate) use names::{is_dns_label, is_dns_subdomain, is_label_value, is_qualified_name};
pub use walk::validate;

#[cfg(test)]
mod oracle;
