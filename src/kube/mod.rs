//! Kubernetes objects as written, and notations that several modules read.

mod object;
pub mod groups;
pub mod version;
pub mod semver_range;
pub mod selector;
mod selector_text;

pub use object::Object;
