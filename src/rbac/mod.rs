//! Who may do what on a cluster, as the API server and Flux's impersonation decide it.

mod access;
mod answer;
mod cluster;
mod escalation;
mod escape;
mod flux;
mod gather;
mod kinds;
mod making;
mod means;
#[cfg(test)]
mod oracle;
mod policy;
mod request;
mod role;
mod rule;
mod selector;
mod shipped;
mod subject;
mod unseen;

pub use access::{Access, Given, Row};
pub use answer::{Answer, Grant};
pub use cluster::Rbac;
pub use escalation::Guard;
pub use escape::{Escape, Reach, Step};
pub use flux::acts_as;
pub use kinds::{Kind, Kinds};
pub use means::{Actor, Become, Means};
pub use policy::Policy;
pub use request::{Request, Resource, Target};
pub use role::{Binding, Bound, Place, Role, RoleRef, Shipper};
pub use rule::{Rule, covers};
pub use subject::{Account, Subject};
