//! A Kubernetes object as written: its fields, its identity and the scope of its kind.

mod object;
mod scope;
mod id;

pub use id::ObjectId;
pub use object::Object;
pub use scope::{Scope, scope_of, settled_namespace};
