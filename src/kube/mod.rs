//! Kubernetes objects as written, and notations that several modules read.

pub mod groups;
mod object;
pub mod selector;
mod selector_text;
pub mod version;
pub mod semver_range;

pub use object::Object;
