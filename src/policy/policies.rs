//! The policies that a cluster enforces, in any language.

use std::fmt::Debug;

use super::cluster::Objects;
use super::decision::Decision;
use super::request::Request;
use crate::cel::Budget;

/// The policies of a language that a cluster enforces.
pub trait Policies: Debug + Send + Sync {
    /// Returns whether no policy is enforced.
    fn is_empty(&self) -> bool;

    /// Returns whether an answer may depend on objects with parameters.
    fn reads_parameters(&self) -> bool;

    /// The answer to a request, within the budget of the request.
    fn decide<'a>(&self, request: &Request<'a>, objects: &dyn Objects<'a>, budget: &mut Budget) -> Decision;
}
