//! Access rights on a cluster, according to the API server's authorizer and Flux's impersonation.

mod model;
mod admission;
mod identity;
mod authz;
mod escalation;
mod access;
#[cfg(test)]
mod oracle;
mod tenants;

pub use access::{Access, GrantedRole, PermissionRow};
pub use admission::policy::Policy;
pub use authz::authorizer::{Answer, Grant};
pub use authz::cluster::Rbac;
pub(crate) use authz::load::determines_rights;
pub use escalation::actor::Actor;
pub use escalation::escape_chain::{ChainEnd, ChainStep, EscapeChain};
pub use escalation::guard::Guard;
pub use escalation::impersonation::Impersonation;
pub use escalation::method::Method;
pub use escalation::rule_identities::identities;
pub use identity::flux_identity::acts_as;
pub use model::kinds::{Kind, Kinds};
pub use model::request::{Request, Resource, Target};
pub use model::role::{Binding, BoundSubject, DefinedIn, Product, Role, RoleRef};
pub use model::rule::{Rule, covers};
pub use model::subject::{Account, Subject};
pub use tenants::{Escape, Tenant, Tenants};
