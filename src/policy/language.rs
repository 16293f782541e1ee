//! The languages of policies.

use std::fmt::Debug;

use super::admission::PolicySet;
use super::policies::Policies;
use crate::base::finding::Finding;
use crate::kube::Object;

/// A language of policies.
#[derive(Debug)]
pub struct Language {
    /// The name.
    pub name: &'static str,
    /// The groups and kinds of its objects.
    pub kinds: &'static [(&'static str, &'static str)],
    read: Read,
}

/// A function that reads the policies among objects.
type Read = fn(&[&Object]) -> (Box<dyn Policies>, Vec<Finding>);

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
    /// Reads the policies among objects. The findings are policies that the API server rejects.
    pub fn read(&self, objects: &[&Object]) -> (Box<dyn Policies>, Vec<Finding>) {
        (self.read)(objects)
    }

    /// Returns whether an object belongs to the language.
    pub fn has(&self, object: &Object) -> bool {
        self.kinds.iter().any(|(group, kind)| object.is(group, kind))
    }
}
