//! Who may do what on a cluster, as the API server and Flux's impersonation decide it.

mod access;
mod admission;
mod authz;
mod escalation;
#[cfg(test)]
mod oracle;

pub use access::{Access, Given, Row};
pub use admission::policy::Policy;
pub use authz::answer::{Answer, Grant};
pub use authz::cluster::Rbac;
pub use authz::kinds::{Kind, Kinds};
pub use authz::request::{Request, Resource, Target};
pub use authz::role::{Binding, Bound, Place, Role, RoleRef, Shipper};
pub use authz::rule::{Rule, covers};
pub use authz::subject::{Account, Subject};
pub use escalation::escape_chain::{Escape, Reach, Step};
pub use escalation::flux_identity::acts_as;
pub use escalation::guard::Guard;
pub use escalation::impersonation::{Actor, Become, Means};
