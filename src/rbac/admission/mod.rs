//! Admission policies, which may forbid requests that roles allow.

pub(super) mod policy;
