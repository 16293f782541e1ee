//! Kubernetes objects as written, and notations that several modules read.

mod object;
pub mod version;
pub mod semver_range;

pub use object::Object;
