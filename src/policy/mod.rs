//! Admission policies, evaluated on the objects that clusters receive.
//!
//! A policy comes from the objects of a cluster, from a directory of the configuration, or from the built-in policies of
//! `policies/`.

mod request;
mod cluster;
mod decision;
mod policies;
mod admission;
mod language;
mod yaml_file;
mod built_in;
mod source;
mod policy_test;

pub use admission::Policy;
pub use built_in::{BUILT_IN, BuiltIn, built_in};
pub use cluster::Objects;
pub use decision::{Decision, Unknown, Violation};
pub use language::{LANGUAGES, Language};
pub use policies::Policies;
pub use policy_test::{Given, Outcome, TestFile, plural_of};
pub use request::Request;
pub use source::{Source, folder_of_policies, load};

/// The rule id of policies that the API server rejects.
pub const INVALID_POLICY: &str = "invalid-policy";
