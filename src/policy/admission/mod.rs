//! `ValidatingAdmissionPolicy`, as the API server evaluates it.
//!
//! Source: `k8s.io/apiserver/pkg/admission/plugin/policy/validating`.

mod selection;
mod variables;
mod policy;
mod binding;
mod parameters;
mod evaluate;
mod set;

pub use policy::Policy;
pub(super) use set::PolicySet;
