//! Conversions of nodes: to types, to and from JSON, and to the values that Kubernetes reads.

pub(super) mod decode;
pub(super) mod json;
pub(super) mod kubernetes;
pub(super) mod verbatim;
