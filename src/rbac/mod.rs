//! Who may do what on a cluster, as the API server and Flux's impersonation decide it.

mod answer;
mod cluster;
mod escalation;
mod gather;
mod kinds;
#[cfg(test)]
mod oracle;
mod request;
mod role;
mod rule;
mod selector;
mod shipped;
mod subject;
mod unseen;

pub use answer::{Answer, Grant};
pub use cluster::Rbac;
pub use escalation::Guard;
pub use kinds::{Kind, Kinds};
pub use request::{Request, Resource, Target};
pub use role::{Binding, Bound, Place, Role, RoleRef, Shipper};
pub use rule::{Rule, covers};
pub use subject::{Account, Subject};
