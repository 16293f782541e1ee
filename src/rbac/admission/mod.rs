//! What may forbid or add rights without being a role: admission policies and unknown sources.

pub(super) mod policy;
pub(super) mod unknown_sources;
