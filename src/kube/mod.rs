//! Kubernetes objects as written, and notations that several modules read.

mod object;

pub use object::Object;
