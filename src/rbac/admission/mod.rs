//! Admission policies, which may forbid requests that roles allow.

mod pattern;
mod trial;
mod kyverno;
mod check;
pub(super) mod policy;
