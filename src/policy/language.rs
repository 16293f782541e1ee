//! The languages of policies.

use std::fmt::Debug;

use super::admission::PolicySet;
use super::cluster::Objects;
use super::decision::Decision;
use super::request::Request;
use crate::base::finding::Finding;
use crate::kube::Object;

/// A language of policies.
#[derive(Debug)]
pub struct Language {
    /// The name.
    pub name: &'static str,
    /// The groups and kinds of its objects.
    pub kinds: &'static [(&'static str, &'static str)],
    /// Reads the policies among objects. The findings are policies that the API server rejects.
    pub read: Read,
}

/// A function that reads the policies among objects.
pub type Read = fn(&[&Object]) -> (Box<dyn Policies>, Vec<Finding>);

/// The policies of a language that a cluster enforces.
pub trait Policies: Debug + Send + Sync {
    /// Returns whether no policy is enforced.
    fn is_empty(&self) -> bool;

    /// Returns whether an answer may depend on objects with parameters.
    fn reads_parameters(&self) -> bool;

    /// The answer to a request.
    fn decide<'a>(&self, request: &Request<'a>, objects: &dyn Objects<'a>) -> Decision;
}

/// All languages.
pub const LANGUAGES: &[Language] = &[Language {
    name: "ValidatingAdmissionPolicy",
    kinds: &[
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ],
    read: |objects| {
        let (set, findings) = PolicySet::read(objects);
        (Box::new(set), findings)
    },
}];

impl Language {
    /// Returns whether an object belongs to the language.
    pub fn has(&self, object: &Object) -> bool {
        self.kinds.iter().any(|(group, kind)| object.is(group, kind))
    }
}
