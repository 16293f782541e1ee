//! Conversions of nodes: to Rust types, to and from JSON, and to the scalars that Kubernetes resolves.

pub(super) mod decode;
pub(super) mod json;
pub(super) mod kubernetes;
pub(super) mod verbatim;
