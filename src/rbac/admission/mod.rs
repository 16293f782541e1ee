//! Admission policies, which may forbid what roles allow.

pub(super) mod policy;
