//! Kubernetes objects as written: identities, scopes of kinds, selectors and versions.

pub mod groups;
mod encrypted;
mod object;
mod scope;
mod id;
pub mod selector;
mod selector_text;
pub mod version;
pub mod semver_range;
pub mod quantity;

pub use encrypted::{has_encrypted_value, is_encrypted_value, unknown_text};
pub use id::{ObjectId, ObjectKey};
pub use object::Object;
pub use scope::{Scope, scope_of, settled_namespace};
