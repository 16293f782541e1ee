//! One of two directories that use each other.

mod job;

pub(super) use job::Job;
